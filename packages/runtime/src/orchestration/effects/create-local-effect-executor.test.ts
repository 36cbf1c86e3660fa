import {
  DirectiveError,
  StateError,
  type Directive,
  type Effect,
  type EffectContext,
  type JsonValue,
  type ObservableEvent,
  type RunControl,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { mockOrchestrator } from "../../testing/mocks/mock-orchestrator.ts";
import { mockStateStore } from "../../testing/mocks/mock-state-store.ts";
import type { ScheduleId, ScheduleRequest, Scheduler } from "../schedules/scheduler.ts";
import { memoryLinkKey } from "../../state/kit/state-link.ts";
import { createLocalEffectExecutor, type LocalEffectExecutorOptions } from "./create-local-effect-executor.ts";

/** A run that notes what it is asked. */
function control(): RunControl & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    emit: (event) => void asked.push(["emit", event]),
    stop: async (reason) => void asked.push(["stop", reason]),
    spawnAgent: async (name, config) => (asked.push(["spawn-agent", name, config]), "r_child" as RunId),
    stopChild: async (name) => (asked.push(["stop-child", name]), 1),
    startTask: async (description, input) => (asked.push(["spawn-task", description, input]), "task-1"),
    stopTask: async (taskId) => (asked.push(["stop-task", taskId]), true),
  };
}

function contextOf(run: RunControl = control(), fields: Partial<EffectContext> = {}): EffectContext {
  return {
    runId: "r_1" as RunId,
    session: "s1" as SessionId,
    agent: "main",
    idempotencyKey: "e_1",
    attempt: 1,
    signal: new AbortController().signal,
    run,
    ...fields,
  };
}

const carryOut = (options: LocalEffectExecutorOptions, effect: Effect, context = contextOf()): Promise<JsonValue | undefined> =>
  createLocalEffectExecutor(options).execute(effect, context);
const direct = (options: LocalEffectExecutorOptions, directive: Directive, context = contextOf()): Promise<JsonValue | undefined> =>
  carryOut(options, { type: "directive", directive }, context);

const scope = { type: "session", id: "s1" } as const;

describe("the local executor: directives", () => {
  it("asks the run for what acts on the run itself, and routes nothing back [DI-02, DI-03, DI-04, DI-08, DI-09, DI-10]", async () => {
    const run = control();
    const directives: readonly Directive[] = [
      { type: "emit", event: { a: 1 } },
      { type: "spawn-agent", name: "helper", config: { task: "t" } },
      { type: "stop-child", name: "helper" },
      { type: "spawn-task", description: "count", input: 3 },
      { type: "stop-task", taskId: "task-1" },
      { type: "stop", reason: "enough" },
    ];
    for (const directive of directives) expect(await direct({}, directive, contextOf(run))).toBeUndefined();
    expect(run.asked).toEqual([
      ["emit", { a: 1 }],
      ["spawn-agent", "helper", { task: "t" }],
      ["stop-child", "helper"],
      ["spawn-task", "count", 3],
      ["stop-task", "task-1"],
      ["stop", "enough"],
    ]);
  });

  it("books delays and cron expressions with the scheduler, for the session, under the effect's key [DI-05, DI-07]", async () => {
    const requests: ScheduleRequest[] = [];
    const scheduler = {
      schedule: async (request: ScheduleRequest) => (requests.push(request), "id" as ScheduleId),
    } as unknown as Scheduler;
    let made = 0;
    const options = { scheduler: () => (made++, scheduler) };
    expect(await direct(options, { type: "schedule", action: "look", delay: "30s" })).toBeUndefined();
    await direct(
      { scheduler },
      { type: "cron", action: "report", expression: "0 3 * * *", timeZone: "Europe/Berlin" },
      contextOf(undefined, { idempotencyKey: "e_2" }),
    );
    const authority = { policies: [], depth: 2 };
    const child = contextOf(undefined, { session: "s1~child" as SessionId, idempotencyKey: "e_3", authority });
    await direct({ scheduler }, { type: "schedule", action: "tell the parent", delay: "1h" }, child);
    expect(requests.splice(2)).toEqual([{ session: "s1", key: "e_3", action: "tell the parent", delay: "1h", authority }]);
    expect(requests).toEqual([
      { session: "s1", agent: "main", key: "e_1", action: "look", delay: "30s" },
      { session: "s1", agent: "main", key: "e_2", action: "report", cron: "0 3 * * *", timeZone: "Europe/Berlin" },
    ]);
    expect(made).toBe(1);
    await expect(direct({}, { type: "cron", action: "a", expression: "* * * * *" })).rejects.toMatchObject({
      failure: { kind: "unsupported", directive: "cron" },
    });
  });

  it("runs an instruction by its name and returns what it returns, or says which there are [DI-06, DI-13]", async () => {
    const instructions = { double: (input: JsonValue) => Number(input) * 2, quiet: () => {} };
    expect(await direct({ instructions }, { type: "run-instruction", instruction: "double", input: 4 })).toBe(8);
    expect(await direct({ instructions }, { type: "run-instruction", instruction: "quiet", input: 4 })).toBeUndefined();
    const error = await direct({ instructions }, { type: "run-instruction", instruction: "toString", input: 4 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(DirectiveError.is(error, "unsupported") && error.message).toBe('There is no instruction "toString"; there are double, quiet.');
  });
});

describe("the local executor: effects", () => {
  it("writes, deletes, links and unlinks memory in a store, and says where there is none [EF-01]", async () => {
    const store = mockStateStore();
    await carryOut({ store }, { type: "write-memory", scope, key: "k", value: { a: 1 }, options: { ttlMs: 5 } });
    expect(store.writes).toEqual([{ scope, key: "k", value: { a: 1 }, options: { ttlMs: 5 } }]);
    await carryOut({ store }, { type: "delete-memory", scope, key: "k" });
    expect(await store.read(scope, "k")).toBeUndefined();
    const link = { scope, from: "a/b", to: "c", relation: "knows" };
    await carryOut({ store }, { type: "link-memory", ...link });
    expect(await store.list(scope, "links/a%2Fb/")).toEqual([memoryLinkKey(link)]);
    expect((await store.read(scope, memoryLinkKey(link)))?.value).toEqual({ from: "a/b", to: "c", relation: "knows" });
    await carryOut({ store }, { type: "unlink-memory", ...link });
    expect(await store.list(scope, "links/")).toEqual([]);
    for (const type of ["link-memory", "unlink-memory"] as const)
      await expect(carryOut({}, { type, ...link })).rejects.toMatchObject({ failure: { kind: "unsupported", directive: type } });
  });

  it("takes a conditional write that an earlier attempt had made for done, and any other conflict for one", async () => {
    const store = mockStateStore({ entries: [[scope, "k", "old"]] });
    const effect: Effect = { type: "write-memory", scope, key: "k", value: "new", options: { ifVersion: 1 } };
    await carryOut({ store }, effect);
    await expect(carryOut({ store }, effect, contextOf(undefined, { attempt: 2 }))).resolves.toBeUndefined();
    expect(store.writes).toHaveLength(1);
    const conflict = await carryOut({ store }, effect).catch((error: unknown) => error);
    expect(DirectiveError.is(conflict, "execution-failed") && StateError.is(conflict.cause, "conflict")).toBe(true);
    await expect(carryOut({ store }, { ...effect, value: "other" }, contextOf(undefined, { attempt: 2 }))).rejects.toThrow("version 2");
  });

  it("keeps artifacts as blobs, a text as it is, and tells their digests", async () => {
    const blobs = createMemoryBlobStore();
    for (const [content, text] of [
      ["plain", "plain"],
      [{ a: [1] }, '{"a":[1]}'],
    ] as const) {
      const value = (await carryOut({ blobs }, { type: "artifact", name: "n", mediaType: "m", content })) as { readonly digest: never };
      expect(value).toMatchObject({ name: "n", mediaType: "m" });
      expect(new TextDecoder().decode(await blobs.get(value.digest))).toBe(text);
    }
  });

  it("tells who observes of logs, progress, observations and metrics, and of which run they are [EF-01]", async () => {
    const seen: ObservableEvent[] = [];
    const options: LocalEffectExecutorOptions = { observe: (event) => void seen.push(event) };
    const meta = { id: "e_1", seq: 1, at: 42 };
    await carryOut(options, { meta, type: "log", level: "warn", message: "m" });
    await carryOut(options, { meta, type: "progress", message: "half", ratio: 0.5 });
    await carryOut(options, { meta, type: "observation", name: "o", value: [1] });
    await carryOut(options, { meta, type: "metric", name: "x", value: 2, unit: "s" });
    const origin = { runId: "r_1", session: "s1", agent: "main" };
    expect(seen).toEqual([
      { name: "log", at: 42, attributes: { level: "warn", message: "m", ...origin } },
      { name: "progress", at: 42, attributes: { message: "half", ratio: 0.5, ...origin } },
      { name: "observation", at: 42, attributes: { name: "o", value: [1], ...origin } },
      { name: "metric", at: 42, attributes: { name: "x", value: 2, unit: "s", ...origin } },
    ]);
    await expect(carryOut({}, { type: "metric", name: "x", value: 1 })).resolves.toBeUndefined();
  });

  it("delegates, hands off and signals through an orchestrator, once for one key [EF-01, EF-02]", async () => {
    const orchestrator = mockOrchestrator({ helper: ["found it"] });
    const message = [{ type: "text", text: "find it" }] as const;
    const authority = { policies: [], depth: 3 };
    const context = contextOf(undefined, { authority });
    const effect: Effect = { type: "delegate", operator: "helper", message, metadata: { a: 1 } };
    const value = await carryOut({ orchestrator }, effect, context);
    expect(value).toMatchObject({ reason: "complete", text: "found it" });
    expect(await carryOut({ orchestrator }, effect, context)).toEqual(value);
    expect(orchestrator.dispatches[0]).toMatchObject({
      operator: "helper",
      input: { message, trigger: "task", metadata: { a: 1 } },
      options: { authority: { policies: [], depth: 2 } },
    });
    expect(new Set(orchestrator.dispatches.map(({ options }) => options.id)).size).toBe(1);
    await expect(carryOut({ orchestrator }, effect, contextOf(undefined, { authority: { policies: [], depth: 0 } }))).rejects.toThrow(
      "limit of nested agents",
    );
    await expect(
      carryOut({ orchestrator }, { type: "signal", target: "r_none", signal: { kind: "stop", payload: null } }),
    ).rejects.toMatchObject({
      failure: { kind: "execution-failed", directive: "signal" },
    });
    await expect(carryOut({}, effect)).rejects.toMatchObject({ failure: { kind: "unsupported", directive: "delegate" } });
    const other = mockOrchestrator({ closer: ["closed"] });
    await carryOut({ orchestrator: other }, { type: "handoff", operator: "closer", task: "Close it.", history: ["hello"] });
    expect(other.dispatches[0]?.input.message).toEqual([
      { type: "text", text: "Close it." },
      { type: "text", text: 'What came before:\n["hello"]' },
    ]);
  });

  it("leaves its place to handlers that the program gives, for any type [EF-02]", async () => {
    const seen: string[] = [];
    const options: LocalEffectExecutorOptions = {
      effects: { "log": ({ message }) => void seen.push(message), "tool-approval-required": ({ toolName }) => void seen.push(toolName) },
      directives: { stop: () => "not today" },
    };
    await carryOut(options, { type: "log", level: "info", message: "mine" });
    await carryOut(options, { type: "tool-approval-required", toolName: "pay", callId: "c", input: {} });
    expect(await direct(options, { type: "stop" })).toBe("not today");
    expect(seen).toEqual(["mine", "pay"]);
    await expect(carryOut({}, { type: "tool-approval-required", toolName: "pay", callId: "c", input: {} })).rejects.toMatchObject({
      failure: { kind: "unsupported" },
    });
  });
});
