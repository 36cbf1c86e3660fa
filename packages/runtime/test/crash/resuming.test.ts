import {
  AgentError,
  type Decision,
  type EventLog,
  inboxLog,
  type JsonValue,
  LogError,
  ModelError,
  type LogId,
  type SessionId,
  sessionLog,
  type Tool,
  type ToolCall,
  type Wait,
  sessionOf,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { Agent, AgentOptions } from "../../src/agent/definition/agent.ts";
import { CHILD_MARK } from "../../src/session/session-id.ts";
import { agentTool, createAgent, defineTool } from "../../src/index.ts";
import { scriptedModel, type ScriptedResponse } from "../../src/testing/scripted-model.ts";
import { createLives } from "./lives.ts";
import { faultsOf } from "./normalised-log.ts";
import type { Points } from "./points.ts";
import { scriptByTurn } from "./scenario.ts";
import type { SideEffects } from "./side-effects.ts";

const SESSION = "resumed";
type Parts = { readonly points: Points; readonly effects: SideEffects };
type ToolOptions = Partial<Pick<Parameters<typeof defineTool>[0], "effect" | "concurrency" | "version" | "description">> & {
  readonly reconcile?: (input: JsonValue, call: ToolCall) => "not-done" | "unknown" | Promise<never>;
};

function acting({ points, effects }: Parts, name: string, { effect = "write", ...options }: ToolOptions = {}): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    ...options,
    input: { type: "object" },
    async execute(input: JsonValue, { idempotencyKey, attempt }: ToolCall) {
      await points.pass(`${name}/before`);
      effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return { did: name, with: input };
    },
  } as never) as Tool;
}

/** An agent that calls these tools in its first turn and responds in its second. */
function calling(parts: Parts, calls: ScriptedResponse["toolCalls"], options: Partial<AgentOptions>): Agent<undefined> {
  return createAgent({
    name: "caller",
    model: scriptByTurn(parts.points, "scripted/caller", (turn) => (turn === 0 ? { toolCalls: calls ?? [] } : { text: "Done." })),
    ...options,
  } as AgentOptions);
}

async function results(
  log: EventLog,
  session: string = SESSION,
): Promise<readonly { readonly name: string; readonly output: JsonValue; readonly isError: boolean }[]> {
  const found: { readonly name: string; readonly output: JsonValue; readonly isError: boolean }[] = [];
  for await (const { type, data } of log.read(sessionLog(session as SessionId)))
    if (type === "tool-result")
      found.push({ name: data["name"] as string, output: data["output"] as JsonValue, isError: data["isError"] as boolean });
  return found;
}

function tokens(waits: readonly Wait[] | undefined): { readonly [operation: string]: string } {
  return Object.fromEntries(
    (waits ?? []).map((wait) => [(wait as { readonly operation: string }).operation, (wait as { readonly token: string }).token]),
  );
}

describe("a run that goes on", () => {
  it("asks again about a call that was denied, not about the tool that was allowed for good beside it", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      calling(
        parts,
        [
          { name: "wipe", input: { disk: "a" } },
          { name: "wipe", input: { disk: "b" } },
        ],
        { tools: [acting(parts, "wipe", { effect: "idempotent" })], permissions: { rules: [{ pattern: "wipe", behavior: "ask" }] } },
      );
    const first = lives.begin(agent);
    const { waits = [] } = await first.runner.run("Go.", { session: SESSION }).outcome;
    const decisions: readonly Decision[] = [{ type: "allow-always" }, { type: "deny" }];
    for (const [index, wait] of waits.entries())
      await first.runner.approve((wait as { readonly token: string }).token, decisions[index] as Decision);
    const second = lives.begin(agent, { place: "wipe/after#0" });
    void (await second.runner.resume(SESSION)).outcome;
    await second.died;
    const third = lives.begin(agent);
    expect((await (await third.runner.resume(SESSION)).outcome).reason).toBe("complete");
    expect((await results(lives.log)).map(({ isError }) => isError)).toEqual([false, true]);
    // Idempotent, so that it ran again; the one that was denied never did.
    expect(new Set(lives.effects.read().map(({ key }) => key)).size).toBe(1);
  });

  it("stays with the model that it fell back to, and has no more tries than it had left", async () => {
    const asked: string[] = [];
    const failing = ({ points }: Parts, name: string) =>
      scriptByTurn(points, name, () => {
        asked.push(name);
        throw new ModelError({ kind: "server-error", message: "overloaded" });
      });
    const dying = async (agent: (parts: Parts) => Agent<undefined>) => {
      const lives = createLives();
      const first = lives.begin(agent, { place: "inferring#1" });
      void first.runner.run("Go.", { session: SESSION }).outcome;
      await first.died;
      asked.length = 0;
      return (await lives.begin(agent).runner.resume(SESSION)).outcome;
    };
    const fallen = (parts: Parts): Agent<undefined> =>
      createAgent({
        name: "faller",
        model: failing(parts, "scripted/first"),
        fallbackModel: scriptByTurn(parts.points, "scripted/second", () => ({ text: "Helped." })),
        limits: { maxRetries: 0 },
      });
    expect(await dying(fallen)).toMatchObject({ reason: "complete", text: "Helped." });
    expect(asked).toEqual([]);
    const trying = (parts: Parts): Agent<undefined> =>
      createAgent({ name: "tryer", model: failing(parts, "scripted/only"), limits: { maxRetries: 1 } });
    expect((await dying(trying)).error?.message).toBe("Max retries (1) exceeded: overloaded");
    expect(asked).toEqual(["scripted/only"]);
  });

  it("remembers in later turns what was allowed for good", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      createAgent({
        name: "caller",
        model: scriptByTurn(parts.points, "scripted/caller", (turn) =>
          turn < 2 ? { toolCalls: [{ name: "wipe", input: { turn } }] } : { text: "Done." },
        ),
        tools: [{ ...acting(parts, "wipe"), risk: "high" }],
      });
    const first = lives.begin(agent);
    const { waits } = await first.runner.run("Go.", { session: SESSION }).outcome;
    await first.runner.approve(tokens(waits)["wipe"] ?? "", { type: "allow-always", rules: ["wipe"] });
    expect((await (await lives.begin(agent).runner.resume(SESSION)).outcome).reason).toBe("complete");
  });

  it("says of a write that may have happened that it may have happened, when it is stopped before anybody found out", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      calling(
        parts,
        [
          { name: "send", input: {} },
          { name: "post", input: {} },
        ],
        { tools: [acting(parts, "send"), acting(parts, "post")] },
      );
    const first = lives.begin(agent, { place: "send/after#0" });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    const second = lives.begin(agent);
    const run = await second.runner.resume(SESSION);
    await run.stop();
    const { reason } = await run.outcome;
    expect(reason).toBe("stopped");
    const [send, post] = await results(lives.log);
    expect(send?.output).toMatch(/may have taken effect/);
    expect(post?.output).toMatch(/^Not run/);
    expect(lives.effects.read().length).toBe(1);
    expect(await faultsOf(lives.log, SESSION)).toEqual([]);
  });

  it("asks about all writes that nobody knows about at once, and about each of them once", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      calling(
        parts,
        [
          { name: "send", input: {} },
          { name: "post", input: {} },
          { name: "file", input: {} },
        ],
        {
          tools: [
            acting(parts, "send", { concurrency: "shared" }),
            acting(parts, "post", { concurrency: "shared" }),
            acting(parts, "file", { concurrency: "shared", reconcile: () => "not-done" }),
          ],
        },
      );
    const first = lives.begin(agent, { place: "send/after#0" });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    const second = lives.begin(agent);
    const { reason, waits } = await (await second.runner.resume(SESSION)).outcome;
    expect({ reason, asked: Object.keys(tokens(waits)) }).toEqual({ reason: "awaiting-decision", asked: ["send", "post"] });
    await second.runner.approve(tokens(waits)["send"] ?? "", { type: "supply", output: "sent" });
    const again = await (await lives.begin(agent).runner.resume(SESSION)).outcome;
    expect({ reason: again.reason, asked: Object.keys(tokens(again.waits)) }).toEqual({ reason: "awaiting-decision", asked: ["post"] });
    await second.runner.approve(tokens(again.waits)["post"] ?? "", { type: "retry" });
    expect((await (await lives.begin(agent).runner.resume(SESSION)).outcome).reason).toBe("complete");
    expect((await results(lives.log)).map(({ output }) => output)).toEqual(["sent", { did: "post", with: {} }, { did: "file", with: {} }]);
  });

  it("asks people where the tool's own check fails, and tells them so", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      calling(parts, [{ name: "send", input: {} }], {
        tools: [acting(parts, "send", { reconcile: () => Promise.reject(new Error("no network")) })],
      });
    const first = lives.begin(agent, { place: "send/before#0" });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    const { reason, waits } = await (await lives.begin(agent).runner.resume(SESSION)).outcome;
    expect(reason).toBe("awaiting-decision");
    const reasons: unknown[] = [];
    for await (const { type, data } of lives.log.read(sessionLog(SESSION as SessionId)))
      if (type === "approval-request") reasons.push(data["reason"]);
    expect(reasons).toEqual([expect.stringContaining("no network")]);
    await lives.begin(agent).runner.approve(tokens(waits)["send"] ?? "", { type: "fail", reason: "not there" });
    expect((await (await lives.begin(agent).runner.resume(SESSION)).outcome).reason).toBe("complete");
    expect((await results(lives.log))[0]).toMatchObject({ isError: true, output: expect.stringContaining("not there") });
  });

  it("runs an idempotent tool again under the key it had, though the tool has another version by now", async () => {
    const lives = createLives();
    const agent =
      (version: string) =>
      (parts: Parts): Agent<undefined> =>
        calling(parts, [{ name: "mark", input: {} }], { tools: [acting(parts, "mark", { effect: "idempotent", version })] });
    const first = lives.begin(agent("1"), { place: "mark/after#0" });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    expect((await (await lives.begin(agent("2")).runner.resume(SESSION)).outcome).reason).toBe("complete");
    const done = lives.effects.read();
    expect(done.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(done.map(({ key }) => key)).size).toBe(1);
  });

  it("asks about a write that may have happened, though its tool calls itself a read by now", async () => {
    const lives = createLives();
    const agent =
      (effect: "write" | "read") =>
      (parts: Parts): Agent<undefined> =>
        calling(parts, [{ name: "pay", input: {} }], { tools: [acting(parts, "pay", { effect })] });
    const first = lives.begin(agent("write"), { place: "pay/after#0" });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    expect((await (await lives.begin(agent("read")).runner.resume(SESSION)).outcome).reason).toBe("awaiting-decision");
    expect(lives.effects.read()).toHaveLength(1);
  });

  it("is not touched by what came too late for the run before it, a stop, an abort, a model or a decision; what was said to the model is heard", async () => {
    const lives = createLives();
    const agent = (parts: Parts): Agent<undefined> =>
      createAgent({ name: "talker", model: scriptByTurn(parts.points, "scripted/talker", () => ({ text: "Hello." })) });
    const { runner } = lives.begin(agent);
    expect((await runner.run("One.", { session: SESSION }).outcome).reason).toBe("complete");
    const late = { role: "user", content: [{ type: "text", text: "Too late." }] };
    await lives.log.append(inboxLog(SESSION as SessionId), "any", [
      { key: "abort/1", type: "abort", data: {} },
      { key: "stop/1", type: "stop", data: {} },
      { key: "model/1", type: "set-model", data: { model: "scripted/nobody" } },
      { key: "a nonce", type: "decision", data: { callId: "c_1", decision: { type: "allow" } } },
      { key: "steer/1", type: "steer", data: { message: late, interrupt: false } },
    ]);
    const second = runner.run("Two.", { session: SESSION });
    expect((await second.outcome).reason).toBe("complete");
    expect(
      (await runner.sessions.get(SESSION)).messages.filter(({ role }) => role === "user").map(({ content }) => content),
    ).toContainEqual(late.content);
    await lives.log.append(inboxLog(SESSION as SessionId), "any", [{ key: "abort/2", type: "abort", data: {} }]);
    const third = lives.begin(agent, { place: "inferring#0" });
    void third.runner.run("Three.", { session: SESSION }).outcome;
    await third.died;
    expect((await (await lives.begin(agent).runner.resume(SESSION)).outcome).reason).toBe("complete");
  });

  it("keeps what tools did when a rule that looks at their results halts or throws", async () => {
    for (const run of [() => ({ type: "halt", reason: "enough" }) as const, () => Promise.reject(new Error("bad rule"))]) {
      const lives = createLives();
      const agent = (parts: Parts): Agent<undefined> =>
        calling(
          parts,
          [
            { name: "send", input: {} },
            { name: "post", input: {} },
          ],
          {
            tools: [acting(parts, "send", { concurrency: "shared" }), acting(parts, "post", { concurrency: "shared" })],
            rules: [{ name: "look", trigger: { type: "after", operation: "execute-tool" }, run }],
          },
        );
      const { reason } = await lives.begin(agent).runner.run("Go.", { session: SESSION }).outcome;
      expect(["halted", "error"]).toContain(reason);
      expect((await results(lives.log)).map(({ output }) => output)).toEqual([
        { did: "send", with: {} },
        { did: "post", with: {} },
      ]);
    }
  });

  it("reads from the log what a callback decided, and gives the same to whoever asked first", async () => {
    const lives = createLives();
    const seen: unknown[] = [];
    const agent = (parts: Parts): Agent<undefined> =>
      calling(parts, [{ name: "mark", input: {} }], {
        tools: [acting(parts, "mark", { effect: "idempotent" })],
        rules: [
          {
            name: "add",
            trigger: { type: "before", operation: "execute-tool" },
            run: () => ({
              type: "modify-input",
              input: { name: "mark", input: { at: new Date(0), none: undefined, not: Number.NaN } as never },
            }),
          },
        ],
      });
    await lives.begin(agent).runner.run("Go.", { session: SESSION }).outcome;
    for (const { output } of await results(lives.log)) seen.push(output);
    expect(seen).toEqual([{ did: "mark", with: { at: "1970-01-01T00:00:00.000Z", not: null } }]);
  });
});

describe("money", () => {
  it("that an inference may have cost is spent when its process died, in the log and on the ledger alike, whether the run goes on or ends", async () => {
    for (const ending of ["complete", "aborted"]) {
      const lives = createLives();
      const agent = ({ points }: Parts): Agent<undefined> => {
        const respond = async (): Promise<string> => {
          await points.pass("inferring");
          return "Done.";
        };
        return createAgent({
          name: "priced",
          model: scriptedModel([respond, respond], { price: { input: "1", output: "2", asOf: "2026-01-01" } }),
          limits: { maxCost: "1" },
        });
      };
      const first = lives.begin(agent, { place: "inferring#0" });
      const run = first.runner.run("Go.", { session: SESSION });
      await first.died;
      const second = lives.begin(agent);
      const resumed = await second.runner.resume(SESSION);
      if (ending === "aborted") await resumed.abort();
      const { reason, cost } = await resumed.outcome;
      expect(reason).toBe(ending);
      expect(Number(cost)).toBeGreaterThan(0.005);
      expect(await lives.ledger.spent(`run/${run.id}`)).toBe(cost);
      expect(await faultsOf(lives.log, SESSION)).toEqual([]);
    }
  });
});

describe("a question", () => {
  const agent = (parts: Parts): Agent<undefined> =>
    calling(parts, [{ name: "pay", input: {} }], {
      tools: [acting(parts, "pay")],
      permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
    });

  it("gets a new token when it was not answered in time, and the old one stays refused", async () => {
    const lives = createLives();
    const { waits } = await lives.begin(agent).runner.run("Go.", { session: SESSION }).outcome;
    lives.pass(8 * 24 * 3_600_000);
    const { runner } = lives.begin(agent);
    const old = tokens(waits)["pay"] ?? "";
    await expect(runner.approve(old, { type: "allow" })).rejects.toSatisfy(
      (error) => AgentError.is(error, "invalid-token") && error.failure.reason === "expired",
    );
    const again = await (await runner.resume(SESSION)).outcome;
    const token = tokens(again.waits)["pay"] ?? "";
    expect(token).not.toBe(old);
    await runner.approve(token, { type: "allow" });
    expect((await (await runner.resume(SESSION)).outcome).reason).toBe("complete");
  });

  it("that a person answered while the callback was thinking is answered, whatever the callback says then", async () => {
    for (const late of [{ type: "deny" }, undefined] as const) {
      const lives = createLives();
      const { runner } = lives.begin(agent, {
        async approver({ token }) {
          await runner.approve(token, { type: "allow" });
          return late;
        },
      });
      expect((await runner.run("Go.", { session: SESSION }).outcome).reason).toBe("complete");
      expect((await results(lives.log))[0]?.isError).toBe(false);
    }
  });

  it("that a person answered is answered, though nobody told the run before its callback came second", async () => {
    const lives = createLives();
    // Nothing new is ever seen by following this log: other processes' entries come late.
    const quiet: EventLog = {
      ...lives.log,
      async *read(log, options = {}) {
        if (!options.follow) yield* lives.log.read(log, options);
        else await new Promise<void>((resolve) => options.signal?.addEventListener("abort", () => resolve()));
      },
    };
    const { runner } = lives.begin(agent, {
      log: quiet,
      async approver({ token }) {
        await lives.begin(agent).runner.approve(token, { type: "allow" });
        return { type: "deny" };
      },
    });
    expect((await runner.run("Go.", { session: SESSION }).outcome).reason).toBe("complete");
    expect((await results(lives.log))[0]?.isError).toBe(false);
  });

  it("whose callback fails for want of its log ends nothing: the run goes on later", async () => {
    const lives = createLives();
    const broken: EventLog = {
      ...lives.log,
      append: (log, ...rest) =>
        log === inboxLog(SESSION as SessionId)
          ? Promise.reject(new LogError({ kind: "full", message: "no space" }))
          : lives.log.append(log, ...rest),
    };
    const { outcome } = lives.begin(agent, { approver: () => ({ type: "allow" }), log: broken }).runner.run("Go.", { session: SESSION });
    expect((await outcome).error?.failure.kind).toBe("backend");
    const { runner } = lives.begin(agent, { approver: () => ({ type: "allow" }) });
    expect((await (await runner.resume(SESSION)).outcome).reason).toBe("complete");
  });
});

describe("a child agent", () => {
  const childOf = (parts: Parts): Agent<undefined> =>
    calling(parts, [{ name: "pay", input: {} }], {
      name: "child",
      tools: [acting(parts, "pay")],
      permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
    });
  const agent = (parts: Parts): Agent<undefined> =>
    calling(parts, [{ name: "child", input: { task: "Pay." } }], { tools: [agentTool(childOf(parts))] });

  it("that a person has answered brings its parent back, by recover()", async () => {
    const lives = createLives();
    const { runner } = lives.begin(agent);
    const { reason, waits } = await runner.run("Go.", { session: SESSION }).outcome;
    expect(reason).toBe("awaiting-approval");
    expect(await runner.recover()).toEqual({ runs: [], failed: [] });
    await runner.approve(tokens(waits)["pay"] ?? "", { type: "allow" });
    const { runs } = await runner.recover();
    expect(runs.map(({ session }) => session)).toEqual([SESSION]);
    expect((await runs[0]?.outcome)?.reason).toBe("complete");
  });

  it("is aborted with its parent, also when both were waiting for somebody", async () => {
    const lives = createLives();
    const { runner } = lives.begin(agent);
    await runner.run("Go.", { session: SESSION }).outcome;
    const run = await runner.resume(SESSION);
    await run.abort();
    expect((await run.outcome).reason).toBe("aborted");
    const ends: unknown[] = [];
    for (const { log } of await lives.log.list())
      if (sessionOf(log) !== undefined)
        for await (const { type, data } of lives.log.read(log)) if (type === "run-complete") ends.push(data["reason"]);
    expect(ends).toEqual(["aborted", "aborted"]);
  });

  it("whose lease an earlier life still holds is waited for, whether it had begun or not", async () => {
    for (const begun of [true, false]) {
      const lives = createLives();
      const { runner } = lives.begin(agent);
      const { waits } = await runner.run("Go.", { session: SESSION }).outcome;
      const [child] = (await lives.log.list())
        .map(({ log }) => log)
        .filter((log) => log.includes(CHILD_MARK) && sessionOf(log) !== undefined);
      if (begun) await runner.approve(tokens(waits)["pay"] ?? "", { type: "allow" });
      else await lives.log.delete(child as LogId);
      await lives.log.acquire(child as LogId, { owner: "earlier", ttlMs: 100_000 });
      let asked = 0;
      const patient: EventLog = {
        ...lives.log,
        acquire(log, options) {
          // By the third time the other's lease is over.
          if (log === child && ++asked === 3) lives.pass(100_001);
          return lives.log.acquire(log, options);
        },
      };
      const { reason } = await (await lives.begin(agent, { log: patient }).runner.resume(SESSION)).outcome;
      expect({ begun, reason, asked }).toEqual({ begun, reason: begun ? "complete" : "awaiting-approval", asked: 3 });
    }
  });
});
