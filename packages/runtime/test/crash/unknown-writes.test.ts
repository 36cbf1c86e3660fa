import {
  type Decision,
  type Durability,
  type Effect,
  type EventLog,
  type JsonValue,
  type LogRecord,
  type Reconciliation,
  type SessionId,
  sessionLog,
  type Tool,
  type ToolCall,
  type Wait,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/agent/definition/agent.ts";
import { createAgent, defineTool, type RunOutcome } from "../../src/index.ts";
import { createLives, type Lives } from "./lives.ts";
import type { Points } from "./points.ts";
import { scriptByTurn } from "./scenario.ts";

const SESSION = "unknown";

const NOTE: Effect = { type: "log", level: "info", message: "noted" };
type Reconcile = (input: JsonValue, call: ToolCall) => Reconciliation | Promise<Reconciliation>;

interface Act {
  readonly name: string;
  readonly effect?: "read" | "idempotent" | "write";
  readonly reconcile?: Reconcile;
}

/** An agent that does all of these at once in its first turn, each to its own name, and responds in its second. */
function doing(acts: readonly Act[]): (life: { readonly points: Points }) => Agent<undefined> {
  return ({ points }) =>
    createAgent({
      name: "doer",
      model: scriptByTurn(points, "scripted/doer", (turn) =>
        turn === 0 ? { toolCalls: acts.map(({ name }) => ({ name, input: { to: name } })) } : { text: "Done." },
      ),
      tools: acts.map(
        ({ name, effect = "write", reconcile }): Tool =>
          defineTool({
            name,
            description: `Does ${name}.`,
            effect,
            concurrency: "shared",
            input: { type: "object" },
            ...(reconcile && { reconcile }),
            async execute(input: JsonValue) {
              await points.pass(`${name}/before`);
              return { did: input };
            },
          } as never) as Tool,
      ),
    });
}

async function records(lives: Lives, type: string): Promise<readonly LogRecord["data"][]> {
  const found: LogRecord["data"][] = [];
  for await (const record of lives.log.read(sessionLog(SESSION as SessionId))) if (record.type === type) found.push(record.data);
  return found;
}

interface Reborn {
  readonly lives: Lives;
  /** In yet another process. */
  resume(): Promise<RunOutcome<unknown>>;
  /** What people say of each tool's call. */
  decide(waits: readonly Wait[] | undefined, decisions: Readonly<Record<string, Decision>>): Promise<void>;
}

/** A process that begins all of it and dies before any of it has an end, and the run of the next one. */
async function resumedAfterDeath(acts: readonly Act[], later: readonly Act[] = acts): Promise<Reborn> {
  const lives = createLives();
  const first = lives.begin(doing(acts), { place: `${acts[0]?.name}/before#0` });
  void first.runner.run("Go.", { session: SESSION }).outcome;
  await first.died;
  const resume = async (): Promise<RunOutcome<unknown>> => (await lives.begin(doing(later)).runner.resume(SESSION)).outcome;
  const decide = async (waits: readonly Wait[] | undefined, decisions: Readonly<Record<string, Decision>>): Promise<void> => {
    const { runner } = lives.begin(doing(later));
    for (const wait of waits ?? []) {
      const { operation, token } = wait as { readonly operation: string; readonly token: string };
      await runner.approve(token, decisions[operation] as Decision);
    }
  };
  return { lives, resume, decide };
}

describe("writes of which nobody knows whether they happened", () => {
  it("are told to people one by one, with what they were called with and what their own checks found; each gets the answer meant for it", async () => {
    const { lives, resume, decide } = await resumedAfterDeath([
      { name: "send", reconcile: () => "not-done" },
      { name: "post", reconcile: () => "unknown" },
      { name: "file", reconcile: () => undefined as never },
      { name: "mail", reconcile: () => ({ output: "mailed" }) },
      { name: "fax" },
    ]);
    const { reason, waits } = await resume();
    expect(reason).toBe("awaiting-decision");
    expect((await records(lives, "tool-unknown")).map(({ name }) => name)).toEqual(["send", "post", "file", "mail", "fax"]);
    expect(await records(lives, "tool-not-done")).toEqual([{ callId: expect.any(String) }]);
    const said = (name: string): string =>
      `${name} was started, then the process ended before its result was recorded. Find out whether it took effect: retry runs it again, supply gives its output, fail tells the model that it failed.`;
    expect((await records(lives, "approval-request")).map(({ input, reason: why }) => ({ input, why }))).toEqual(
      ["post", "file", "fax"].map((name) => ({ input: { to: name }, why: said(name) })),
    );
    await decide(waits, { post: { type: "fail", reason: "" }, file: { type: "supply", output: "filed" }, fax: { type: "retry" } });
    expect((await resume()).reason).toBe("complete");
    // What a person wants run again counts as not run until then, as what its own check found.
    expect(await records(lives, "tool-not-done")).toHaveLength(2);
    expect((await records(lives, "tool-result")).map(({ output, isError, changed }) => ({ output, isError, changed }))).toEqual([
      { output: { did: { to: "send" } }, isError: false, changed: true },
      {
        output: "This call was interrupted and counts as failed. It may have taken effect: look before you repeat it.",
        isError: true,
        changed: undefined,
      },
      { output: "filed", isError: false, changed: true },
      { output: "mailed", isError: false, changed: true },
      { output: { did: { to: "fax" } }, isError: false, changed: true },
    ]);
  });

  it("count as not run once their own check has found so, however the run ends then", async () => {
    const acts: readonly Act[] = [{ name: "send", reconcile: () => "not-done" }, { name: "post" }];
    const { lives, resume } = await resumedAfterDeath(acts);
    expect((await resume()).reason).toBe("awaiting-decision");
    const run = await lives.begin(doing(acts)).runner.resume(SESSION);
    await run.stop();
    expect((await run.outcome).reason).toBe("stopped");
    const [send, post] = await records(lives, "tool-result");
    expect(send?.["output"]).toMatch(/^Not run: the run was stopped/);
    expect(post?.["output"]).toMatch(/^Interrupted: .*may have taken effect/);
  });

  it("count on budgets as calls, for the ledger of the process that made them died with it", async () => {
    const lives = createLives();
    const budgets = [{ id: "team", maxToolCalls: 5 }];
    const first = lives.begin(doing([{ name: "send" }]), { place: "send/before#0", budgets });
    void first.runner.run("Go.", { session: SESSION }).outcome;
    await first.died;
    const run = await lives.begin(doing([{ name: "send" }]), { budgets }).runner.resume(SESSION);
    expect((await run.outcome).reason).toBe("awaiting-decision");
    expect(await lives.ledger.used("team")).toMatchObject({ toolCalls: 1 });
  });

  it("have the effects that they declare themselves; what their checks declare is of no account", async () => {
    const declaring: Reconcile = (_input, { declare }) => (declare?.(NOTE), "not-done");
    const done: Reconcile = (_input, { declare }) => (declare?.(NOTE), { output: "done" });
    const { lives, resume } = await resumedAfterDeath([
      { name: "send", reconcile: declaring },
      { name: "post", reconcile: done },
    ]);
    expect((await resume()).reason).toBe("complete");
    expect((await records(lives, "tool-result")).map(({ output }) => output)).toEqual([{ did: { to: "send" } }, "done"]);
    expect(await records(lives, "effect")).toEqual([]);
  });

  it("end the run where a person said so", async () => {
    const { resume, decide } = await resumedAfterDeath([{ name: "send" }]);
    await decide((await resume()).waits, { send: { type: "abort" } });
    expect((await resume()).reason).toBe("aborted");
  });

  it("are asked about by what their tool is now as well as by what it was", async () => {
    const { resume } = await resumedAfterDeath([{ name: "send", effect: "idempotent" }], [{ name: "send", effect: "write" }]);
    expect((await resume()).reason).toBe("awaiting-decision");
  });
});

it("a write is reserved on the disk, since it can't be taken back; what may be done again is handed over", async () => {
  const kept: Record<string, Durability | undefined> = {};
  const lives = createLives();
  const log: EventLog = {
    ...lives.log,
    append(id, expected, appended, options) {
      for (const { type, data } of appended) if (type === "tool-reserved") kept[String(data["tool"])] = options?.durability ?? "process";
      return lives.log.append(id, expected, appended, options);
    },
  };
  for (const effect of ["write", "idempotent", "read"] as const) {
    const { runner } = lives.begin(doing([{ name: effect, effect }]), { log });
    expect((await runner.run("Go.", { session: effect }).outcome).reason).toBe("complete");
  }
  expect(kept).toEqual({ write: "power", idempotent: "process" });
});
