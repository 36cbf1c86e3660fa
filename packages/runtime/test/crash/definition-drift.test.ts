import {
  type AgentEvent,
  AgentError,
  type Decision,
  type EventLog,
  type JsonValue,
  type SessionId,
  sessionLog,
  type Tool,
  type ToolCall,
  type Wait,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Agent, AgentOptions } from "../../src/agent/definition/agent.ts";
import { createHookRegistry } from "../../src/agent/definition/hooks/hook-registry.ts";
import { createAgent, defineTool } from "../../src/index.ts";
import type { ScriptedResponse } from "../../src/testing/scripted-model.ts";
import { createLives, type Lives } from "./lives.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import type { Points } from "./points.ts";
import { scriptByTurn } from "./scenario.ts";
import type { SideEffects } from "./side-effects.ts";

const SESSION = "drifting";
type Parts = { readonly points: Points; readonly effects: SideEffects };
type Definition = (parts: Parts) => Agent<undefined>;

interface Shape {
  readonly version?: string;
  readonly input?: z.ZodType;
  readonly effect?: "read" | "idempotent" | "write";
  readonly reconcile?: () => "not-done";
}

function tool({ points, effects }: Parts, name: string, { effect = "write", input = z.object({}).loose(), ...shape }: Shape = {}): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    input,
    ...shape,
    async execute(given: unknown, { idempotencyKey, attempt }: ToolCall) {
      await points.pass(`${name}/before`);
      effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return `did ${name} with ${JSON.stringify(given)}`;
    },
  } as never) as Tool;
}

const SEND: ScriptedResponse["toolCalls"] = [{ name: "send", input: { to: "ann" } }];

/** An agent that makes these calls in its first turn and responds in its second. */
function agentOf(
  tools: { readonly [name: string]: Shape },
  options: Partial<AgentOptions> = {},
  calls: ScriptedResponse["toolCalls"] = SEND,
): Definition {
  return (parts) =>
    createAgent({
      name: "drifter",
      model: scriptByTurn(parts.points, "scripted/drifter", (turn) => (turn === 0 ? { toolCalls: calls ?? [] } : { text: "Done." })),
      tools: Object.entries(tools).map(([name, shape]) => tool(parts, name, shape)),
      ...options,
    } as AgentOptions);
}

/** A process that dies at this place in its work. */
async function diesAt(lives: Lives, place: string, definition: Definition): Promise<void> {
  const life = lives.begin(definition, { place });
  void life.runner.run("Go.", { session: SESSION }).outcome;
  await life.died;
}

/** Another process takes the run up with this definition. */
async function resumed(lives: Lives, definition: Definition) {
  const run = await lives.begin(definition).runner.resume(SESSION);
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return { events, outcome: await run.outcome };
}

/** Decides the one open question. */
async function decide(lives: Lives, definition: Definition, waits: readonly Wait[] | undefined, decision: Decision): Promise<void> {
  expect(waits).toHaveLength(1);
  await lives.begin(definition).runner.approve((waits?.[0] as { readonly token: string }).token, decision);
}

async function recorded(log: EventLog, type: string): Promise<readonly { readonly [field: string]: JsonValue | undefined }[]> {
  const found: { readonly [field: string]: JsonValue | undefined }[] = [];
  for await (const record of log.read(sessionLog(SESSION as SessionId))) if (record.type === type) found.push(record.data);
  return found;
}

const results = (log: EventLog) => recorded(log, "tool-result");
const reasons = async (log: EventLog) => (await recorded(log, "approval-request")).map(({ reason }) => reason);

describe("a run whose definition changed", () => {
  it("goes on with the new one, and says so once; what it did under the old one stands", async () => {
    const lives = createLives();
    await diesAt(lives, "inferring#1", agentOf({ send: {} }, { instructions: "Old." }));
    const systems: (string | undefined)[] = [];
    const later: Definition = (parts) =>
      createAgent({
        name: "drifter",
        instructions: "New.",
        model: scriptByTurn(parts.points, "scripted/drifter", (_turn, { system }) => (systems.push(system), { text: "Done." })),
        tools: [],
      });
    const { events, outcome } = await resumed(lives, later);
    expect(outcome).toMatchObject({ reason: "complete", turns: 2 });
    expect(systems).toEqual(["New."]);
    const changes = events.filter(({ type }) => type === "definition-change");
    expect(changes).toMatchObject([{ to: expect.any(String), from: expect.any(String) }]);
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(["run-resume", "definition-change"]);
    expect((await results(lives.log)).map(({ output }) => output)).toEqual(['did send with {"to":"ann"}']);
    expect(await faultsOf(lives.log, SESSION)).toEqual([]);
  });

  it("finishes an open call that still fits, without asking anybody", async () => {
    const lives = createLives();
    await diesAt(lives, "send/before#0", agentOf({ send: { effect: "idempotent", version: "1" } }));
    const { outcome, events } = await resumed(lives, agentOf({ send: { effect: "idempotent", version: "2" } }, { instructions: "New." }));
    expect(outcome.reason).toBe("complete");
    expect(events.filter(({ type }) => type === "definition-change")).toHaveLength(1);
    expect(lives.effects.read()).toHaveLength(1);
  });
});

describe("an open call whose tool is gone", () => {
  const before = agentOf({ send: {} });
  const after = agentOf({ post: {} });

  it("suspends the run with a question; `fail` goes on under the new definition and tells the model", async () => {
    const lives = createLives();
    await diesAt(lives, "send/after#0", before);
    const { outcome } = await resumed(lives, after);
    expect(outcome.reason).toBe("awaiting-decision");
    expect(outcome.waits).toMatchObject([{ type: "decision", operation: "send" }]);
    expect(await reasons(lives.log)).toEqual([
      'The agent was changed while this call of send was open, and it has no tool "send" any more. It was started before, and nobody knows whether it took effect: find out first. fail goes on with the new definition and tells the model that the call is no longer possible, supply goes on and gives its output, abort ends the run. Or resume the run with the definition that it had.',
    ]);
    expect(await recorded(lives.log, "tool-unknown")).toMatchObject([{ name: "send" }]);

    expect((await resumed(lives, after)).outcome.waits).toEqual(outcome.waits);
    await decide(lives, after, outcome.waits, { type: "fail", reason: "we stopped sending" });
    expect((await resumed(lives, after)).outcome.reason).toBe("complete");
    expect(await results(lives.log)).toMatchObject([
      {
        name: "send",
        isError: true,
        output:
          'This call is no longer possible: the agent was changed, and it has no tool "send" any more (we stopped sending). It was started before that and may have taken effect: look before you repeat it.',
      },
    ]);
    expect(await recorded(lives.log, "definition-change")).toHaveLength(1);
    expect(await faultsOf(lives.log, SESSION)).toEqual([]);
  });

  it("is told to the model as never run, where it was not", async () => {
    const lives = createLives();
    const asking: Partial<AgentOptions> = { permissions: { rules: [{ pattern: "send", behavior: "ask" }] } };
    expect((await lives.begin(agentOf({ send: {} }, asking)).runner.run("Go.", { session: SESSION }).outcome).reason).toBe(
      "awaiting-approval",
    );
    const { outcome } = await resumed(lives, after);
    expect(outcome.reason).toBe("awaiting-decision");
    await decide(lives, after, outcome.waits, { type: "fail", reason: "" });
    expect((await resumed(lives, after)).outcome.reason).toBe("complete");
    expect((await results(lives.log))[0]?.["output"]).toMatch(/no longer possible.*any more\. It did not run\.$/);
    expect(lives.effects.read()).toEqual([]);
    expect(await recorded(lives.log, "tool-unknown")).toEqual([]);
  });

  it("is asked about with what the model gave it, as the worst that it can be, for nothing is known of it", async () => {
    const lives = createLives();
    const asking: Partial<AgentOptions> = { permissions: { rules: [{ pattern: "send", behavior: "ask" }] } };
    await lives.begin(agentOf({ send: {} }, asking)).runner.run("Go.", { session: SESSION }).outcome;
    await resumed(lives, after);
    expect((await recorded(lives.log, "approval-request")).at(-1)).toMatchObject({
      question: "decision",
      operation: "send",
      description: "A tool that the agent no longer has.",
      risk: "critical",
      input: { to: "ann" },
      reason: expect.stringContaining('it has no tool "send" any more. It did not run. fail goes on'),
    });
  });

  it("gets the output that a person supplies, and `abort` ends the run with a result for it", async () => {
    for (const decision of [{ type: "supply", output: { sent: true } }, { type: "abort" }] as const) {
      const lives = createLives();
      await diesAt(lives, "send/after#0", before);
      const { outcome } = await resumed(lives, after);
      await decide(lives, after, outcome.waits, decision);
      const { reason } = (await resumed(lives, after)).outcome;
      const [result] = await results(lives.log);
      if (decision.type === "supply")
        expect({ reason, ...result }).toMatchObject({
          reason: "complete",
          output: { sent: true },
          isError: false,
          changed: true,
          executed: 'send:{"to":"ann"}',
        });
      else
        expect({ reason, ...result }).toMatchObject({
          reason: "aborted",
          isError: true,
          output: expect.stringMatching(/may have taken effect/),
        });
      expect(await faultsOf(lives.log, SESSION)).toEqual([]);
    }
  });

  it("is asked about by itself, beside another with the same arguments", async () => {
    const lives = createLives();
    const asking: Partial<AgentOptions> = { permissions: { rules: [{ pattern: "send", behavior: "ask" }] } };
    await lives.begin(agentOf({ send: {} }, asking, [...(SEND ?? []), ...(SEND ?? [])])).runner.run("Go.", { session: SESSION }).outcome;
    const { waits = [] } = (await resumed(lives, after)).outcome;
    expect(new Set(waits.map((wait) => (wait as { readonly token: string }).token)).size).toBe(2);
  });

  it("can't be run again: `retry` is asked about anew, and says why", async () => {
    const lives = createLives();
    await diesAt(lives, "send/after#0", before);
    const first = await resumed(lives, after);
    await decide(lives, after, first.outcome.waits, { type: "retry" });
    const second = await resumed(lives, after);
    expect(second.outcome.reason).toBe("awaiting-decision");
    expect(second.outcome.waits).not.toEqual(first.outcome.waits);
    expect((await reasons(lives.log)).at(-1)).toMatch(/retry can't run it/);
    await decide(lives, after, second.outcome.waits, { type: "fail" });
    expect((await resumed(lives, after)).outcome.reason).toBe("complete");
  });

  it("goes on by itself with the definition that it had, or one that has the tool again", async () => {
    const lives = createLives();
    const reading = { send: { effect: "idempotent" } } as const;
    await diesAt(lives, "send/before#0", agentOf(reading));
    expect((await resumed(lives, after)).outcome.reason).toBe("awaiting-decision");
    expect((await resumed(lives, agentOf(reading))).outcome.reason).toBe("complete");
    expect((await results(lives.log))[0]).toMatchObject({ isError: false });
    expect(await recorded(lives.log, "definition-change")).toHaveLength(2);
  });

  it("keeps a parent waiting with its child", async () => {
    const lives = createLives();
    const parent =
      (child: Definition): Definition =>
      (parts) =>
        createAgent({
          name: "parent",
          model: scriptByTurn(parts.points, "scripted/parent", (turn) =>
            turn === 0 ? { toolCalls: [{ name: "drifter", input: { task: "Send." } }] } : { text: "All done." },
          ),
          tools: [child(parts).asTool()],
        });
    await diesAt(lives, "send/after#0", parent(before));
    const { outcome } = await resumed(lives, parent(after));
    expect(outcome).toMatchObject({ reason: "awaiting-decision", waits: [{ type: "decision", operation: "send", path: ["drifter"] }] });
    await decide(lives, parent(after), outcome.waits, { type: "fail" });
    expect((await resumed(lives, parent(after))).outcome).toMatchObject({ reason: "complete", text: "All done." });
  });
});

describe("a write that may have run, as a tool that is of another version by now", () => {
  const asked: string[] = [];
  const version = (number: string): Definition => agentOf({ send: { version: number, reconcile: () => (asked.push(number), "not-done") } });

  it.each([
    ["retry", 2],
    ["supply", 1],
    ["fail", 1],
  ] as const)("is asked about, not reconciled by the new one: %s", async (type, times) => {
    asked.length = 0;
    const lives = createLives();
    await diesAt(lives, "send/after#0", version("1"));
    const { outcome } = await resumed(lives, version("2"));
    expect(outcome).toMatchObject({ reason: "awaiting-decision", waits: [{ type: "decision", operation: "send" }] });
    expect(await reasons(lives.log)).toEqual([
      expect.stringMatching(/send is of the version 2 by now, not 1\..*retry runs it as it is now/),
    ]);
    await decide(lives, version("2"), outcome.waits, type === "supply" ? { type, output: "sent" } : { type });
    expect((await resumed(lives, version("2"))).outcome.reason).toBe("complete");
    expect(asked).toEqual([]);
    const done = lives.effects.read();
    expect(done).toHaveLength(times);
    expect(new Set(done.map(({ key }) => key)).size).toBe(1);
    const [result] = await results(lives.log);
    expect(result).toMatchObject(type === "fail" ? { isError: true } : { isError: false });
    expect(await faultsOf(lives.log, SESSION)).toEqual([]);
  });

  it("is reconciled by its own check where its tool is the same, whatever else changed", async () => {
    asked.length = 0;
    const lives = createLives();
    await diesAt(lives, "send/after#0", version("1"));
    const instructed = agentOf({ send: { version: "1", reconcile: () => (asked.push("1"), "not-done") } }, { instructions: "New." });
    expect((await resumed(lives, instructed)).outcome.reason).toBe("complete");
    expect(asked).toEqual(["1"]);
    expect(await reasons(lives.log)).toEqual([]);
    expect(await recorded(lives.log, "definition-change")).toHaveLength(1);
  });

  it("is the new one's business where it had not started", async () => {
    const lives = createLives();
    const asking: Partial<AgentOptions> = { permissions: { rules: [{ pattern: "send", behavior: "ask" }] } };
    await lives.begin(agentOf({ send: { version: "1" } }, asking)).runner.run("Go.", { session: SESSION }).outcome;
    const { outcome } = await resumed(lives, agentOf({ send: { version: "2" } }));
    expect(outcome.reason).toBe("awaiting-approval");
    await decide(lives, agentOf({ send: { version: "2" } }), outcome.waits, { type: "allow" });
    expect((await resumed(lives, agentOf({ send: { version: "2" } }))).outcome.reason).toBe("complete");
    expect(lives.effects.read()).toHaveLength(1);
  });
});

it.each([
  ["", "idempotent", "1"],
  [", though it is a write of another version by now", "write", "2"],
] as const)(
  "a call that was started, and that a hook of the new definition refuses, is not run again, and the model learns that it may have taken effect%s",
  async (_case, effect, version) => {
    const lives = createLives();
    await diesAt(lives, "send/after#0", agentOf({ send: { effect, version: "1" } }));
    const hooks = createHookRegistry().onPreToolUse("send", () => ({ type: "abort", reason: "no more" }));
    const forbidding = agentOf({ send: { effect, version } }, { hooks });
    expect((await resumed(lives, forbidding)).outcome.reason).toBe("complete");
    expect(lives.effects.read()).toHaveLength(1);
    expect(await results(lives.log)).toMatchObject([
      {
        isError: true,
        output: expect.stringMatching(
          /^This call was started before the process ended, and it can't be gone on with: .+ It may have taken effect: look before you repeat it\.$/s,
        ),
      },
    ]);
  },
);

describe("an open call whose arguments are no longer valid", () => {
  it("suspends the run; where the model had yet to ask for it, it is the model's to correct", async () => {
    const lives = createLives();
    const strict = agentOf({ send: { effect: "idempotent", input: z.object({ to: z.string(), subject: z.string() }) } });
    await diesAt(lives, "send/before#0", agentOf({ send: { effect: "idempotent" } }));
    const { outcome } = await resumed(lives, strict);
    expect(outcome.reason).toBe("awaiting-decision");
    expect(await reasons(lives.log)).toEqual([expect.stringMatching(/send no longer takes these arguments: .*subject/s)]);
    // It would fail again.
    expect((await reasons(lives.log))[0]).not.toContain("retry");
    await decide(lives, strict, outcome.waits, { type: "fail" });
    expect((await resumed(lives, strict)).outcome.reason).toBe("complete");
    expect((await results(lives.log))[0]?.["output"]).toMatch(/no longer possible.*subject.*may have taken effect/s);

    const other = createLives();
    await diesAt(other, "inferring#0", agentOf({ send: {} }));
    expect((await resumed(other, strict)).outcome.reason).toBe("complete");
    expect((await results(other.log))[0]).toMatchObject({ isError: true, output: expect.stringMatching(/subject/) });
  });
});

it("a call that was cut off is the model's to repeat, though the definition changed since: nobody is asked about it", async () => {
  const lives = createLives();
  const cutting =
    (instructions: string): Definition =>
    (parts) =>
      createAgent({
        name: "drifter",
        instructions,
        model: scriptByTurn(parts.points, "scripted/drifter", (turn) =>
          turn === 0 ? { toolCalls: [...(SEND ?? []), ...(SEND ?? [])], stopReason: "max-tokens" } : { text: "Done." },
        ),
        tools: [tool(parts, "send", { effect: "idempotent" })],
      });
  await diesAt(lives, "send/before#0", cutting("Old."));
  expect((await resumed(lives, cutting("New."))).outcome.reason).toBe("complete");
  expect(await results(lives.log)).toMatchObject([{ isError: false }, { output: expect.stringMatching(/^The response was cut off/) }]);
});

describe("a call that was asked for after the definition changed", () => {
  it("is the model's to correct, also in a turn that was open then", async () => {
    const lives = createLives();
    const responses = [{ text: "nonsense" }, { toolCalls: SEND ?? [] }, { text: '{"ok":true}' }] as const;
    const repairing =
      (input: z.ZodType): Definition =>
      (parts) =>
        createAgent({
          name: "drifter",
          model: scriptByTurn(parts.points, "scripted/drifter", (turn) => responses[turn] ?? { text: "Done." }),
          tools: [tool(parts, "send", { input })],
          output: z.object({ ok: z.boolean() }),
          outputMode: "prompt",
        }) as unknown as Agent<undefined>;
    await diesAt(lives, "inferring#1", repairing(z.object({}).loose()));
    const { outcome, events } = await resumed(lives, repairing(z.object({ subject: z.string() })));
    expect(events.map(({ type }) => type)).toContain("definition-change");
    expect(outcome).toMatchObject({ reason: "complete", output: { ok: true } });
    expect((await results(lives.log))[0]).toMatchObject({ isError: true, output: expect.stringMatching(/subject/) });
    expect(await reasons(lives.log)).toEqual([]);
  });
});

describe("a drifted run that is killed at every place of its way", () => {
  const before = agentOf({ send: {} });
  const after = agentOf({ post: {} }, {}, [{ name: "post", input: {} }]);

  /** Resumes and answers until it is over, or dead. */
  async function finish(lives: Lives, place?: string): Promise<{ readonly passed: readonly string[]; readonly over: boolean }> {
    const { runner, points, died } = lives.begin(after, place === undefined ? {} : { place });
    const work = async (): Promise<boolean> => {
      for (let round = 0; round < 10; round++) {
        const { reason, waits = [] } = await (await runner.resume(SESSION)).outcome;
        if (reason === "complete") return true;
        for (const wait of waits) {
          await runner.approve((wait as { readonly token: string }).token, { type: "fail" }).catch((error: unknown) => {
            if (!AgentError.is(error, "invalid-token")) throw error;
          });
        }
      }
      throw new Error("it does not end");
    };
    const over = await Promise.race([work(), died.then(() => false)]);
    return { passed: points.passed, over };
  }

  it("asks once, tells the model once, and comes to the same log", { timeout: 60_000 }, async () => {
    const drifted = async (): Promise<Lives> => {
      const lives = createLives();
      await diesAt(lives, "send/after#0", before);
      return lives;
    };
    const undisturbed = await drifted();
    const { passed } = await finish(undisturbed);
    const expected = await normalisedLog(undisturbed.log, SESSION);
    expect(passed.filter((place) => place.startsWith("append#")).length).toBeGreaterThan(4);
    const faults: string[] = [];
    for (const place of passed) {
      const lives = await drifted();
      await finish(lives, place);
      if (!(await finish(lives)).over) faults.push(`${place}: it is not over`);
      const questions = await reasons(lives.log);
      if (questions.length !== 1) faults.push(`${place}: it asked ${questions.length} times`);
      if (JSON.stringify(await normalisedLog(lives.log, SESSION)) !== JSON.stringify(expected)) faults.push(`${place}: another log`);
      for (const fault of await faultsOf(lives.log, SESSION)) faults.push(`${place}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
