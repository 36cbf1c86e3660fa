import { createAgent, LogError, type Agent, type EventLog, type InferRequest, type SessionId, type SingleRunner } from "keelson";
import { createEphemeralApprovalKeys } from "keelson/agent";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";
import { sessionLog } from "@keelson/protocol";
import { expect, it } from "vitest";
import { MOMENTS } from "../../src/agent/loop/moments.ts";
import { createRunnerWith } from "../../src/agent/runner/runner.ts";
import type { Gate, Moments, Step } from "../../src/agent/turn/moments.ts";
import { refuse } from "../../src/agent/turn/pending-call.ts";
import { PartKey } from "../../src/agent/turn/run-parts.ts";
import { watchedLog } from "../crash/watched-log.ts";
import { impatientClock, recordingTool } from "./support.ts";

const ID = sessionLog("s" as SessionId);

/** What each turn may do: a feature with a part of its own, a step before each turn whose verdict is recorded, and a gate. */
function curfew(askWatchman: (turn: number) => "open" | "closed"): Pick<Moments, "beforeTurn" | "gates"> {
  const GATE = new PartKey<{ state: "open" | "closed" }>("curfew");
  const ask: Step = {
    name: "curfew",
    async run(loop, { turn, number }) {
      const state = await loop.execution.decide(`${turn}/curfew`, async () => askWatchman(number));
      loop.parts.set(GATE, { state });
    },
  };
  const gate: Gate = {
    name: "curfew",
    applies: (loop) => loop.parts.get(GATE)?.state === "closed",
    pass: async (_loop, call) => refuse(call, "The gates are closed."),
  };
  return { beforeTurn: [ask], gates: [gate] };
}

function processOf(agent: Agent, log: EventLog, moments: Moments): SingleRunner<unknown> {
  const clock = impatientClock();
  let ids = 0;
  return createRunnerWith(
    {
      agent,
      log,
      blobs,
      clock,
      ledger: createMemoryBudgetLedger(),
      approvalKeys: createEphemeralApprovalKeys(),
      owner: `process ${++processes}`,
      random: () => 0.5,
      newId: () => `${processes}-${++ids}`,
    },
    moments,
  );
}
const blobs = createMemoryBlobStore();
let processes = 0;

/** Answers by what it is shown, so that a request that is made again is answered alike. */
const respond = ({ messages }: InferRequest): ScriptedResponse => {
  const n = 1 + messages.filter(({ role }) => role === "tool").length;
  return n > 2 ? { text: "done" } : { toolCalls: [{ name: "ring", input: { n } }] };
};

it("a feature that is a few steps at moments of its own takes part in a run, in its crash after any append, and in its resume", async () => {
  let crashes = 0;
  for (let appends = 1, died = true; died; appends++) {
    const log = createMemoryEventLog();
    const asked: number[] = [];
    const ring = recordingTool("ring", { effect: "idempotent" });
    const agent = createAgent({
      name: "a",
      model: scriptedModel(Array.from({ length: 9 }, () => respond)),
      tools: [ring],
    });
    const own = curfew((turn) => (asked.push(turn), turn === 2 ? "closed" : "open"));
    const moments: Moments = {
      ...MOMENTS,
      beforeTurn: [...MOMENTS.beforeTurn, ...own.beforeTurn],
      gates: [...MOMENTS.gates, ...own.gates],
    };
    let left = appends;
    const dying = watchedLog(log, {
      before(id) {
        if (id === ID && left-- <= 0) throw new LogError({ kind: "unavailable", message: "the process dies here" });
      },
    });
    let outcome = await processOf(agent, dying, moments).run("go", { session: "s" }).outcome;
    died = outcome.reason === "error";
    if (died) {
      crashes++;
      const later = processOf(agent, log, moments);
      outcome = await (await later.resume("s")).outcome;
    }
    expect([outcome.reason, outcome.text]).toEqual(["complete", "done"]);
    expect(new Set(ring.calls.map((input) => JSON.stringify(input)))).toEqual(new Set(['{"n":1}']));
    const results: unknown[] = [];
    let verdicts = 0;
    for await (const { type, key, data } of log.read(ID)) {
      if (type === "tool-result") results.push(data["output"]);
      if (type === "decision" && key.endsWith("/curfew")) verdicts++;
    }
    expect(results).toEqual(["ring done", "The gates are closed."]);
    expect(verdicts).toBe(3);
    // What stood in the log when the process died was read from it; a verdict that was not is asked for again.
    expect(asked.length).toBeLessThanOrEqual(4);
  }
  expect(crashes).toBeGreaterThan(3);
});

it("a run without that feature is as it was", async () => {
  const agent = createAgent({
    name: "a",
    model: scriptedModel([{ toolCalls: [{ name: "ring", input: {} }] }, { toolCalls: [{ name: "ring", input: { again: true } }] }, "done"]),
    tools: [recordingTool("ring")],
  });
  const log = createMemoryEventLog();
  expect((await processOf(agent, log, MOMENTS).run("go", { session: "s" }).outcome).text).toBe("done");
  for await (const { key } of log.read(ID)) expect(key).not.toContain("curfew");
});
