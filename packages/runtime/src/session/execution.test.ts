import { LogError, OperatorError, type EventLog, type JsonValue, type RunId, type SessionId } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { createMemoryBlobStore } from "../state/memory/memory-blob-store.ts";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { Execution } from "./execution.ts";
import { Journal } from "./journal.ts";
import { Suspension } from "./suspension.ts";

const session = "s" as SessionId;
const runId = "r" as RunId;

/** Time passes at once where somebody waits. */
const atOnce: Clock = {
  now: () => 1000,
  after: (_ms, run, options) => (options?.keepAlive === false ? undefined : queueMicrotask(run), () => {}),
};

interface Given {
  readonly log?: EventLog;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

async function openExecution({
  log = createMemoryEventLog(),
  signal = new AbortController().signal,
  clock = atOnce,
}: Given = {}): Promise<Execution> {
  const journal = await Journal.open({ log, blobs: createMemoryBlobStore(), clock, session, owner: "test", durability: "process" });
  journal.put("r/start", "run-start", { session, agent: "clerk", definition: "d", model: "m" });
  return new Execution({
    journal,
    clock,
    runId,
    session,
    signal,
    stopping: new AbortController().signal,
    authority: { policies: [], depth: 0 },
    emit: () => {},
    startChild: () => Promise.reject(new Error("no child is started here")),
  });
}

it("finds what stands under a key of the run, of the types that it may be of", async () => {
  const execution = await openExecution();
  execution.put("k", "instructions", { text: "Be brief." });
  expect(execution.lookup("k", "instructions")?.data.text).toBe("Be brief.");
  expect(execution.lookup("k", "run-context", "instructions")).toMatchObject({ key: "r/k", type: "instructions" });
  expect(execution.lookup("other", "instructions")).toBeUndefined();
  expect([execution.has("k"), execution.has("other")]).toEqual([true, false]);
});

it("refuses to take a record of another type for what was looked up: the log is damaged", async () => {
  const execution = await openExecution();
  execution.put("k", "instructions", { text: "Be brief." });
  expect(() => execution.lookup("k", "run-context")).toThrow(
    expect.toSatisfy(
      (error: unknown) => LogError.is(error, "corrupt") && error.message.includes('"r/k" and is of type "instructions", not run-context'),
    ),
  );
});

it("records a step whose value is no JSON as what JSON makes of it, and never runs it again", async () => {
  const log = createMemoryEventLog();
  let runs = 0;
  const run = async (): Promise<never> => {
    runs++;
    return { id: 1917043659912705296n, at: new Date(0) } as never;
  };
  const value = { id: "1917043659912705296", at: "1970-01-01T00:00:00.000Z" };
  expect(await (await openExecution({ log })).step("a", run)).toMatchObject({ ok: true, value });
  const again = await openExecution({ log });
  expect(await again.step("a", run)).toMatchObject({ ok: true, value });
  expect(await again.decide("b", () => ({ id: 5n }) as never)).toEqual({ id: "5" });
  expect(runs).toBe(1);
});

const key = fc.constantFrom("a", "b");
const act = fc.oneof(
  fc.record({ type: fc.constantFrom("step", "failing step", "sleep", "select", "commit", "inbox"), key }),
  fc.record({ type: fc.constantFrom("decide", "panic"), key: key.map((name) => `decision ${name}`) }),
  fc.record({ type: fc.constant("write"), key: fc.uuid() }),
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** What the acts come to, one after another; `done` is told of each that is really done. */
async function perform(execution: Execution, acts: readonly Act[], done: (what: string) => JsonValue): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  const settled = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      (value) => value ?? null,
      (error: unknown) => (error as Error).message,
    );
  for (const { type, key: name } of acts) {
    switch (type) {
      case "step":
        results.push(await settled(execution.step(name, async () => done("step"))));
        break;
      case "failing step":
        results.push(await settled(execution.step(`f${name}`, () => Promise.reject(new Error(String(done("failing step")))))));
        break;
      case "sleep":
        results.push(await settled(execution.sleepUntil(name, 2000)));
        break;
      case "select":
        results.push(
          await settled(
            execution.select(name, [{ type: "inbox" }, { type: "step", spec: { key: `s${name}`, run: async () => done("branch") } }]),
          ),
        );
        break;
      case "commit":
        results.push(await settled(execution.commit(name, { type: "turn-end", turn: 1 })));
        break;
      case "inbox":
        results.push(await settled(execution.inbox(name)));
        break;
      case "decide":
        results.push(await settled(execution.decide(name, () => done("decide"))));
        break;
      case "panic":
        results.push(
          await settled(
            execution.decide(`p${name}`, () => {
              throw new Error(String(done("panic")));
            }),
          ),
        );
        break;
      default:
        await execution.journal.writeInbox(name, { type: "stop" });
    }
  }
  return results;
}

describe("whatever a run does through its execution", () => {
  it("is done once: another execution over the same log does none of it again, and gets the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (acts) => {
        const log = createMemoryEventLog({ now: () => 1000 });
        const first = await openExecution({ log });
        let count = 0;
        const results = await perform(first, acts, () => ++count);
        await first.journal.close();
        const second = await openExecution({ log });
        const writes = acts.filter(({ type }) => type !== "write");
        expect(await perform(second, writes, (what) => expect.unreachable(`${what} was done again`))).toEqual(results);
      }),
    );
  });

  it("is done once where it is asked for again while it is under way", async () => {
    const execution = await openExecution();
    const acts: string[] = [];
    const gate = Promise.withResolvers<void>();
    const act = async (what: string): Promise<string> => (acts.push(what), await gate.promise, what);
    const steps = [1, 2].map(() => execution.step("a", () => act("step")));
    const decisions = [1, 2].map(() => execution.decide("b", () => act("decision")));
    gate.resolve();
    expect(await Promise.all(steps)).toMatchObject([{ value: "step" }, { value: "step" }]);
    expect(await Promise.all(decisions)).toEqual(["decision", "decision"]);
    expect(acts.toSorted()).toEqual(["decision", "step"]);
  });

  it("waits no longer than it is let: a sleep and a race end with its abort, and begin no more after it", async () => {
    const aborting = new AbortController();
    const execution = await openExecution({ signal: aborting.signal, clock: { ...atOnce, after: () => () => {} } });
    const waits = [execution.sleepUntil("nap", 9000), execution.select("race", [{ type: "inbox" }])];
    aborting.abort("enough");
    for (const wait of [...waits, execution.sleepUntil("later", 9000), execution.select("late", [{ type: "inbox" }])])
      await expect(wait).rejects.toSatisfy((error) => OperatorError.is(error, "non-retryable") && error.message.includes("enough"));
    expect(["sleep/nap", "select/race"].map((place) => execution.has(place))).toEqual([false, false]);
  });

  it("suspends the run also from within a decision, which is not taken then", async () => {
    const execution = await openExecution();
    await expect(execution.decide("d", () => execution.suspend("awaiting-timer", []))).rejects.toBeInstanceOf(Suspension);
    expect(execution.has("d")).toBe(false);
  });

  it("gives each entry of its inbox at one point, and the same entries where that point is asked for again", async () => {
    const execution = await openExecution();
    const keysAt = async (point: string) => (await execution.inbox(point)).map((entry) => entry.key);
    expect(await keysAt("first")).toEqual([]);
    await execution.journal.writeInbox("one", { type: "stop" });
    await execution.journal.writeInbox("two", { type: "stop" });
    expect(await Promise.all([keysAt("second"), keysAt("third")])).toEqual([["one", "two"], []]);
    await execution.journal.writeInbox("three", { type: "stop" });
    expect([await keysAt("first"), await keysAt("second"), await keysAt("fourth")]).toEqual([[], ["one", "two"], ["three"]]);
  });
});
