import {
  directiveCodec,
  durableEventCodec,
  eventCodec,
  type Directive,
  type Effect,
  type EffectContext,
  type RecordedEvent,
} from "@keelson/protocol";
import { agentTool, createAgent, createRunner, defineTool, type Run, type RunnerOptions } from "keelson";
import { createEphemeralApprovalKeys, createFilterChain, createRunnerWith, defineEffectTool, definePlugin } from "keelson/agent";
import {
  agentOperator,
  createEffectExecutor,
  createScheduler,
  createLocalEffectExecutor,
  createLocalOrchestrator,
  noOpExecutor,
} from "keelson/orchestration";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { mockStateStore, scriptedModel, type ScriptedResponse, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, runnerOf, types, watch } from "./support.ts";

/** A tool whose calls declare what they are told to. */
const act = defineTool({
  name: "act",
  description: "Declares effects.",
  effect: "idempotent",
  input: { type: "object" },
  execute(input, call) {
    for (const effect of input["effects"] as unknown as readonly Effect[]) call.declare?.(effect);
    if (input["fails"]) throw new Error("it failed after all");
    return "declared";
  },
});
const calls = (...effects: readonly Effect[]): ScriptedTurn => ({ toolCalls: [{ name: "act", input: { effects } as never }] });
const directs = (...directives: readonly Directive[]): ScriptedTurn =>
  calls(...directives.map((directive): Effect => ({ type: "directive", directive })));
const log = (message: string): Effect => ({ type: "log", level: "debug", message });

function agentOf(turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "main", model, tools: [act], ...options }) };
}

/** Everything that an executor is asked, with its keys. */
function noting(handle: (effect: Effect, context: EffectContext) => unknown = () => undefined) {
  const seen: { readonly effect: Effect; readonly key: string; readonly attempt: number }[] = [];
  return {
    seen,
    executor: {
      supports: () => true,
      async execute(effect: Effect, context: EffectContext) {
        seen.push({ effect, key: context.idempotencyKey, attempt: context.attempt });
        return handle(effect, context) as undefined;
      },
    },
  };
}

const lastUserText = (model: {
  readonly requests: readonly { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }[];
}): string => JSON.stringify(model.requests.at(-1)?.messages.findLast(({ role }) => role === "user")?.content);

describe("effects that a run declares", () => {
  it("are executed behind its result, in order, and listed with who caused them and what became of them [LA-10, EF-01, EF-02]", async () => {
    const { agent } = agentOf([calls(log("first"), log("second")), calls(log("third")), "Done."]);
    const { seen, executor } = noting((effect) => {
      if (effect.type === "log" && effect.message === "second") throw new Error("no disk");
    });
    const { events, outcome } = await watch(runnerOf(agent, { effects: executor }).run("go"));
    expect(seen.map(({ effect }) => (effect as { readonly message: string }).message)).toEqual(["first", "second", "third"]);
    expect(outcome.reason).toBe("complete");
    const [first, second, third] = outcome.effects;
    const callIds = ofType(events, "tool-result").map(({ callId }) => callId);
    const runId = ofType(events, "run-start")[0]?.runId;
    expect(first).toEqual({
      ...log("first"),
      meta: {
        id: seen[0]?.key,
        causationId: callIds[0],
        correlationId: runId,
        seq: expect.any(Number),
        at: expect.any(Number),
        outcome: "done",
      },
    });
    expect(second?.meta).toMatchObject({ causationId: callIds[0], outcome: "failed" });
    expect(third?.meta).toMatchObject({ causationId: callIds[1], outcome: "done" });
    expect(Number(third?.meta?.seq)).toBeGreaterThan(Number(second?.meta?.seq));
    expect(seen[0]?.key).toMatch(/^e_[\w-]{24}$/);
    const order = types(events);
    const warning = events.findIndex((event) => event.type === "status" && event.level === "warn");
    expect(events[warning]).toMatchObject({ status: `The effect "log" (${seen[1]?.key}) failed: no disk` });
    expect(order.indexOf("run-result")).toBeLessThan(warning);
    expect(warning).toBeLessThan(order.indexOf("run-complete"));
  });

  it("are only listed where nothing executes them, and where the run failed or was aborted [LA-10]", async () => {
    const { seen, executor } = noting();
    const failing = agentOf([calls(log("kept")), { error: { kind: "authentication" } as never }]);
    const failed = await runnerOf(failing.agent, { effects: executor }).run("go").outcome;
    expect(failed.reason).toBe("error");
    expect(failed.effects).toMatchObject([log("kept")]);
    expect(failed.effects[0]?.meta).not.toHaveProperty("outcome");
    const hanging = agentOf([calls(log("kept too")), { wait: new Promise(() => {}) }]);
    const run = runnerOf(hanging.agent, { effects: executor }).run("go");
    for await (const event of run) if (event.type === "turn-end") void run.abort();
    expect((await run.outcome).effects).toMatchObject([log("kept too")]);
    expect(seen).toEqual([]);
  });

  it("reach whoever dispatched the agent in the operator's output, so that it decides about the rest [LA-10]", async () => {
    const { agent } = agentOf([calls(log("a")), "Done."]);
    const runner = runnerOf(agent, { effects: createEffectExecutor({ effects: { log: () => {} } }) });
    const orchestrator = createLocalOrchestrator({ operators: { main: agentOperator(runner as never, "main") } });
    const output = await orchestrator.dispatch("main", { message: [{ type: "text", text: "go" }], trigger: "user", metadata: {} });
    expect(output.effects).toMatchObject([{ ...log("a"), meta: { outcome: "done" } }]);
  });

  it("are refused when there are more than a run may have", async () => {
    const flood = defineTool({
      name: "flood",
      description: "Declares too much.",
      effect: "idempotent",
      input: { type: "object" },
      execute(_input, call) {
        for (let count = 0; count < 6000; count++) call.declare?.(log("x"));
        return "declared";
      },
    });
    const once = { toolCalls: [{ name: "flood", input: {} }] };
    const { agent } = agentOf([once, once, "Done."], { tools: [flood] });
    const { events, outcome } = await watch(runnerOf(agent, { effects: undefined as never }).run("go"));
    expect(outcome.effects).toHaveLength(6000);
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual([
      "declared",
      expect.stringContaining("the run has declared 10000 effects already, which is the limit"),
    ]);
  });

  it("of a child that had nobody to execute them are its caller's to decide about, and say whose they were [LA-10]", async () => {
    const child = createAgent({ name: "child", model: scriptedModel([calls(log("deep")), "Done."]), tools: [act] });
    const { agent } = agentOf([{ toolCalls: [{ name: "child", input: { task: "declare" } }] }, "Done."], { tools: [agentTool(child)] });
    const clock = impatientClock();
    const runner = createRunnerWith({
      agent,
      log: createMemoryEventLog({ now: clock.now }),
      blobs: createMemoryBlobStore(),
      ledger: createMemoryBudgetLedger(),
      clock,
      approvalKeys: createEphemeralApprovalKeys(),
      owner: "test",
      random: () => 0.5,
      newId: () => crypto.randomUUID(),
    });
    const { effects } = await runner.run("go").outcome;
    expect(effects).toMatchObject([{ ...log("deep"), meta: { causationId: expect.stringMatching(/^e_/) } }]);
    expect(effects[0]?.meta).not.toHaveProperty("outcome");
    expect(effects[0]?.meta?.causationId).not.toBe(effects[0]?.meta?.id);
  });

  it("are executed where the run ran out of time, but no more once somebody aborts it", async () => {
    const timers: (() => void)[] = [];
    const clock = { now: () => 0, after: (_ms: number, fire: () => void) => (timers.push(fire), () => {}) };
    const late = agentOf(
      [calls(log("first"), log("second"), log("third")), () => (timers.forEach((fire) => fire()), { wait: new Promise(() => {}) })],
      {
        limits: { maxDurationMs: 5 },
      },
    );
    const running: Run<unknown>[] = [];
    const { seen, executor } = noting((effect, { signal }) => {
      expect(signal.aborted).toBe(false);
      if (effect.type !== "log" || effect.message !== "second") return undefined;
      timers.length = 0;
      return new Promise(() => void running[0]?.abort());
    });
    running.push(createRunner({ agent: late.agent, clock, effects: executor }).run("go"));
    const outcome = await running[0]?.outcome;
    expect(outcome?.reason).toBe("timeout");
    expect(seen.map(({ effect }) => (effect as { readonly message: string }).message)).toEqual(["first", "second"]);
    expect(outcome?.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", undefined, undefined]);
  });

  it("count only with the result of the call that declared them", async () => {
    const { agent, model } = agentOf([{ toolCalls: [{ name: "act", input: { effects: [log("never")], fails: true } as never }] }, "Done."]);
    const outcome = await runnerOf(agent).run("go").outcome;
    expect(outcome.effects).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("it failed after all");
  });

  it("write to the store that the program gave its runs, keep artifacts with the blobs, and reach other sessions and agents [EF-01]", async () => {
    const store = mockStateStore();
    const blobs = createMemoryBlobStore();
    const eventLog = createMemoryEventLog({ now: () => 0 });
    const scope = { type: "global" } as const;
    const { agent } = agentOf([
      calls(
        { type: "write-memory", scope, key: "k", value: 1 },
        { type: "artifact", name: "n", mediaType: "text/plain", content: "text" },
        { type: "signal", target: "other", signal: { kind: "user-message", payload: "hello" } },
        { type: "delegate", operator: "helper", message: [{ type: "text", text: "help" }] },
        { type: "handoff", operator: "closer", task: "close" },
      ),
      "Done.",
    ]);
    const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
    const closer = createAgent({ name: "closer", model: scriptedModel(["closed"]) });
    const listener = createAgent({ name: "listener", model: scriptedModel(["listening"]) });
    const runner = createRunner({
      agents: { main: agent, helper, closer, listener },
      handoffs: "runner",
      state: store,
      blobs,
      log: eventLog,
      clock: impatientClock(),
      random: () => 0.5,
    });
    await runner.run("listen", { agent: "listener", session: "other" }).outcome;
    const { outcome, events } = await watch(runner.run("go", { agent: "main", session: "one" }));
    expect(ofType(events, "status")).toEqual([]);
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", "done", "done", "done", "done"]);
    expect(store.writes).toMatchObject([{ key: "k", value: 1 }]);
    const records = async (id: string): Promise<readonly { readonly type: string; readonly data: unknown }[]> => {
      const found = [];
      for await (const record of eventLog.read(id as never)) found.push(record);
      return found;
    };
    expect((await records("session/other/inbox")).at(-1)).toMatchObject({
      type: "signal",
      data: { signal: { kind: "user-message", payload: "hello" } },
    });
    const done = (await records("session/one"))
      .filter(({ type }) => type === "effect-done")
      .map(({ data }) => (data as { readonly value?: unknown }).value);
    expect(done[3]).toMatchObject({ reason: "complete", text: "helped" });
    const { session } = done[4] as { readonly session: string };
    expect((await (await runner.resume(session)).outcome).text).toBe("closed");
  });

  it("show progress and logs to watchers when they are declared", async () => {
    const { agent } = agentOf([
      calls({ type: "progress", message: "halfway", ratio: 0.5 }, { type: "log", level: "error", message: "odd" }, log("silent")),
      "Done.",
    ]);
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "status").map(({ status, ratio, level }) => [status, ratio, level])).toEqual([
      ["halfway", 0.5, undefined],
      ["odd", undefined, "warn"],
    ]);
  });
});

describe("directives", () => {
  it("are events, emitted ones too, which their codec reads back [DI-02, EV-08]", async () => {
    const { agent } = agentOf([directs({ type: "emit", event: { seen: 1 } }, { type: "stop-child", name: "nobody" }), "Done."]);
    const { seen, executor } = noting();
    const { events, outcome } = await watch(runnerOf(agent, { effects: executor }).run("go"));
    // To emit is to be declared: nothing is left to execute.
    expect(seen.map(({ effect }) => effect)).toMatchObject([{ directive: { type: "stop-child" } }]);
    const found = ofType(events, "directive");
    expect(found.map(({ directive }) => directive)).toEqual([
      { type: "emit", event: { seen: 1 } },
      { type: "stop-child", name: "nobody" },
    ]);
    expect(found.map(({ id }) => id)).toEqual(outcome.effects.map(({ meta }) => meta?.id));
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", "done"]);
    for (const event of found) {
      expect(directiveCodec.decode(JSON.parse(JSON.stringify(event.directive)))).toEqual(event.directive);
      expect(durableEventCodec.decode(durableEventCodec.encode(event))).toEqual(event);
    }
  });

  it("that emit an event of the protocol are that event, live, from the log and for plugins [DI-02, EV-06, EV-09, EV-12, EV-13]", async () => {
    const given = [
      { type: "status", status: "indexing", ratio: 0.25 },
      { type: "tool-progress", callId: "c_1", message: "half of it", ratio: 0.5 },
      { type: "suggestion", suggestions: ["Run the tests."] },
      { type: "task", taskId: "t", kind: "started", payload: { of: 2 } },
      { type: "order-shipped", order: 7 },
      // Where it stands and whose it is is not for a program to say.
      { type: "status", status: "mine", seq: 1, at: 1, runId: "r_other", path: ["nobody"], after: 7 },
    ] as const;
    const shownToPlugin: unknown[] = [];
    const plugin = definePlugin({
      key: "seeing",
      initialState: 0,
      events: ["status", "suggestion", "task", "tool-progress"],
      onEvent: ({ event }) => void shownToPlugin.push(event),
    });
    const events = given.map((event): Directive => ({ type: "emit", event }));
    const { agent } = agentOf([directs(...events), "Done."], { plugins: [plugin] });
    const runner = runnerOf(agent);
    const { events: live, outcome } = await watch(runner.run("go", { session: "s" }));
    const isEmitted = ({ type }: { readonly type: string }) =>
      ["status", "tool-progress", "suggestion", "task", "directive"].includes(type);
    const emitted = live.filter(isEmitted);
    const positions = { seq: expect.any(Number), at: expect.any(Number), runId: ofType(live, "run-start")[0]?.runId };
    expect(emitted).toEqual([
      ...given.slice(0, 4).map((event) => ({ ...event, ...positions })),
      { type: "directive", directive: events[4], id: expect.any(String), causationId: expect.any(String), ...positions },
      { type: "status", status: "mine", ...positions },
    ]);
    for (const event of emitted) expect(eventCodec.decode(JSON.parse(JSON.stringify(event)))).toEqual(event);
    expect(shownToPlugin).toEqual(emitted.filter(({ type }) => type !== "directive"));

    const logged: RecordedEvent[] = [];
    for await (const event of runner.sessions.events("s")) logged.push(event);
    expect(logged.filter(isEmitted)).toEqual(emitted);
    // They are effects of the run as before.
    expect(outcome.effects.map((effect) => (effect.type === "directive" ? effect.directive : undefined))).toEqual(events);
  });

  it("that emit what only the runtime writes, or what is no such event, are refused where they are declared [DI-02]", async () => {
    const { agent, model } = agentOf([
      directs({ type: "emit", event: { type: "run-complete", reason: "complete", text: "all is well" } }),
      directs({ type: "emit", event: { type: "text-delta", text: "I said so" } }),
      directs({ type: "emit", event: { type: "status" } }),
      "Done.",
    ]);
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    const told = ofType(events, "tool-result").map(({ output, isError }) => [isError, JSON.stringify(output)]);
    expect(told.map(([isError]) => isError)).toEqual([true, true, true]);
    expect(told[0]?.[1]).toContain(
      'events of type \\"run-complete\\" are for the runtime to write. A program can emit status, tool-progress, suggestion, task, and types of its own',
    );
    expect(told[1]?.[1]).toContain('events of type \\"text-delta\\" are for the runtime');
    expect(told[2]?.[1]).toContain("status: expected a string, got nothing");
    expect(ofType(events, "run-complete")).toHaveLength(1);
    expect(outcome.effects).toEqual([]);
    expect(model.requests).toHaveLength(4);
  });

  it("that a plugin or an executor emits are held to the same", async () => {
    const forged = { type: "error", failure: { kind: "other", message: "nothing of the kind" } } as const;
    const plugin = definePlugin({ key: "forging", initialState: 0, beforeRun: () => [{ type: "emit", event: forged }] });
    const { agent } = agentOf([directs({ type: "custom", customType: "tell", payload: null }), "Done."], { plugins: [plugin] });
    const { executor } = noting((_effect, { run }) => {
      run.emit({ type: "suggestion", suggestions: ["Rest."] });
      run.emit(forged);
    });
    const { events, outcome } = await watch(runnerOf(agent, { effects: executor }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "error")).toEqual([]);
    expect(ofType(events, "suggestion")).toMatchObject([{ suggestions: ["Rest."] }]);
    const warnings = ofType(events, "status").map(({ status }) => status);
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) expect(warning).toContain('events of type "error" are for the runtime to write');
  });

  it("run named instructions at the end of their turn, and put what comes of them before the model in the next [DI-06, DI-13]", async () => {
    const { agent, model } = agentOf([
      directs(
        { type: "run-instruction", instruction: "lookup", input: "tea" },
        { type: "run-instruction", instruction: "quiet", input: null },
      ),
      "Done.",
    ]);
    const inputs: unknown[] = [];
    const effects = createLocalEffectExecutor({
      instructions: { lookup: (input) => (inputs.push(input), { price: 3 }), quiet: () => undefined },
    });
    const { events, outcome } = await watch(runnerOf(agent, { effects }).run("go"));
    expect(inputs).toEqual(["tea"]);
    expect(outcome.text).toBe("Done.");
    expect(lastUserText(model)).toContain('Result of the instruction \\"lookup\\":\\n{\\"price\\":3}');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    const order = types(events);
    expect(order.indexOf("directive")).toBeLessThan(order.indexOf("turn-end"));
  });

  it("declared with the final response give the run one more turn when they route a value back, and else none [DI-13]", async () => {
    const asking = definePlugin({
      key: "asking",
      initialState: {},
      onUserMessage: ({ message }) =>
        message?.includes("look it up") ? [{ type: "run-instruction", instruction: message, input: null }] : undefined,
      afterRun: () => [{ type: "run-instruction", instruction: "too late", input: null }],
    });
    const ran: string[] = [];
    const { agent, model } = agentOf(["First answer.", "Second answer.", "Third answer."], {
      plugins: [asking],
      afterTurn: () => void ran.push("turn over"),
    });
    const effects = createLocalEffectExecutor({
      instructions: {
        "look it up": () => (ran.push("look it up"), "a value"),
        "do not look it up": () => void ran.push("do not look it up"),
        "too late": () => (ran.push("too late"), "nobody's"),
      },
    });
    const runner = runnerOf(agent, { effects });
    const first = await watch(runner.run("look it up", { session: "s" }));
    expect(first.outcome).toMatchObject({ reason: "complete", text: "Second answer.", turns: 2 });
    expect(lastUserText(model)).toContain("a value");
    const second = await watch(runner.run("do not look it up", { session: "s" }));
    expect(second.outcome).toMatchObject({ text: "Third answer.", turns: 1 });
    expect(ran).toEqual(["look it up", "turn over", "turn over", "too late", "do not look it up", "turn over", "too late"]);
    expect(second.outcome.effects.map(({ meta }) => [meta?.causationId, meta?.outcome])).toEqual([
      ["t1", "done"],
      [second.events[0]?.runId, "done"],
    ]);
  });

  it("stop the run gracefully, by the inbox, and let those after them be carried out first [DI-08]", async () => {
    const { agent, model } = agentOf([
      directs({ type: "stop", reason: "enough" }, { type: "run-instruction", instruction: "last", input: 1 }),
      "Never.",
    ]);
    const ran: unknown[] = [];
    const effects = createLocalEffectExecutor({ instructions: { last: (input) => void ran.push(input) } });
    const { events, outcome } = await watch(runnerOf(agent, { effects }).run("go"));
    expect(outcome.reason).toBe("stopped");
    expect(ran).toEqual([1]);
    expect(model.requests).toHaveLength(1);
    expect(ofType(events, "inbox-read")).toMatchObject([{ stopping: "stop" }]);
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", "done"]);
  });

  it("book schedules for their session with the runner's own scheduler, or with that which the program gives [DI-05, DI-07]", async () => {
    const { agent } = agentOf([
      directs(
        { type: "schedule", action: "look again", delay: "30s" },
        { type: "cron", action: "report", expression: "0 3 * * *", timeZone: "Europe/Berlin" },
      ),
      "Done.",
    ]);
    const noon = Date.UTC(2024, 0, 10, 12);
    const clock = { now: () => noon, after: () => () => {} };
    const runner = createRunner({ agent, clock, log: createMemoryEventLog({ now: clock.now }) });
    const { events, outcome } = await watch(runner.run("go", { session: "s" }));
    expect(ofType(events, "status")).toEqual([]);
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", "done"]);
    const booked = await createScheduler({ runner }).list({ session: "s" });
    expect(booked).toMatchObject([
      { agent: "main", action: "look again", nextAt: noon + 30_000, key: outcome.effects[0]?.meta?.id },
      { agent: "main", action: "report", cron: "0 3 * * *", timeZone: "Europe/Berlin", nextAt: Date.UTC(2024, 0, 11, 2) },
    ]);
  });

  it("start and stop agents and tasks beside the run, whose ends reach later turns [DI-03, DI-04, DI-09, DI-10]", async () => {
    const untilStopped = defineTool({
      name: "wait",
      description: "Waits until the run is stopped.",
      effect: "read",
      input: { type: "object" },
      execute: (_input, { stopping }) => new Promise<string>((resolve) => stopping.addEventListener("abort", () => resolve("stopped"))),
    });
    let begin = (): void => {};
    const childBegan = new Promise<void>((resolve) => (begin = resolve));
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([() => (begin(), { toolCalls: [{ name: "wait", input: {} }] })]),
      tools: [untilStopped],
    });
    let take = (_id: string): void => {};
    const taskBegan = new Promise<string>((resolve) => (take = resolve));
    const tasks: RunnerOptions["tasks"] = {
      run(description, input, { taskId, signal }) {
        if (description === "double") return Number(input) * 2;
        take(taskId);
        return new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      },
    };
    const { agent, model } = agentOf([
      directs(
        { type: "spawn-agent", name: "helper", config: { task: "help" } },
        { type: "spawn-task", description: "hang", input: null },
        { type: "spawn-task", description: "double", input: 3 },
      ),
      async () => {
        await childBegan;
        return directs({ type: "stop-child", name: "helper" }, { type: "stop-task", taskId: await taskBegan }) as ScriptedResponse;
      },
      ...Array.from({ length: 5 }, () => "Done."),
    ]);
    const runner = createRunner({ agents: { main: agent, helper }, tasks, clock: impatientClock(), random: () => 0.5 });
    const { events, outcome } = await watch(runner.run("go", { agent: "main" }));
    expect(outcome).toMatchObject({ reason: "complete" });
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(Array.from({ length: 5 }, () => "done"));
    expect(ofType(events, "child-start")).toMatchObject([{ agent: "helper" }]);
    expect(ofType(events, "child-end")).toMatchObject([{ reason: "stopped" }]);
    const told = JSON.stringify(model.requests.at(-1)?.messages);
    expect(told).toContain('The background task \\"double\\"');
    expect(told).toContain('The background agent \\"helper\\"');
    const task = await taskBegan;
    expect(ofType(events, "task").flatMap(({ taskId, kind }) => (taskId === task ? [kind] : []))[0]).toBe("started");
  });

  it("that fail warn and are marked, and the run goes on [ER-11]", async () => {
    const { agent } = agentOf([
      directs({ type: "run-instruction", instruction: "nope", input: 1 }, { type: "cron", expression: "x", action: "a" }),
      "Done.",
    ]);
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["failed", "failed"]);
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      expect.stringContaining('There is no instruction "nope"; there are none.'),
      expect.stringMatching(/The effect "cron" .* failed: .*"x"/),
    ]);
  });

  it("of a type that nobody registered are refused by name and kept, not dropped [DI-11]", async () => {
    const { agent } = agentOf([directs({ type: "custom", customType: "nobody", payload: { a: 1 } }), "Done."]);
    const eventLog = createMemoryEventLog({ now: () => 0 });
    const { events, outcome } = await watch(runnerOf(agent, { log: eventLog }).run("go", { session: "s" }));
    expect(outcome.effects).toMatchObject([{ directive: { customType: "nobody", payload: { a: 1 } }, meta: { outcome: "failed" } }]);
    expect(ofType(events, "status")[0]?.status).toContain('No payload is registered for the custom directive "nobody"');
    const failures = [];
    for await (const { type, data } of eventLog.read("session/s" as never)) if (type === "effect-done") failures.push(data["failure"]);
    expect(failures).toMatchObject([{ kind: "unknown-payload", customType: "nobody" }]);
  });

  it("pass the agent's filters before they count: changed, suppressed without a trace, or rejected with an error that the declarer gets [ER-12]", async () => {
    const { agent, model } = agentOf(
      [
        directs({ type: "stop-child", name: "a" }),
        directs({ type: "stop-child", name: "b" }),
        directs({ type: "stop", reason: "c" }),
        "Done.",
      ],
      {
        directiveFilters: [
          { name: "drop b", filter: (directive) => (directive.type === "stop-child" && directive.name === "b" ? undefined : directive) },
          {
            name: "upper",
            filter: (directive) => (directive.type === "stop-child" ? { ...directive, name: directive.name.toUpperCase() } : directive),
          },
          {
            name: "no stops",
            filter(directive) {
              if (directive.type === "stop") throw new Error("stopping is not for you");
              return directive;
            },
          },
        ],
      },
    );
    const { events, outcome } = await watch(runnerOf(agent, { effects: noOpExecutor }).run("go"));
    expect(ofType(events, "directive").map(({ directive }) => directive)).toEqual([{ type: "stop-child", name: "A" }]);
    expect(outcome.reason).toBe("complete");
    const results = ofType(events, "tool-result");
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(JSON.stringify(model.requests[3]?.messages)).toContain('rejected by the filter \\"no stops\\": stopping is not for you');
  });

  it("that are no directives are refused to whoever declares them", async () => {
    const { agent } = agentOf([
      directs({ type: "schedule", action: "a", delay: "soon" }),
      calls({ type: "metric", name: "m" } as never),
      "Done.",
    ]);
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.effects).toEqual([]);
    expect(ofType(events, "tool-result").map(({ output }) => String(output))).toEqual([
      expect.stringMatching(/The effect "directive" was not declared.*directive\.delay/),
      expect.stringMatching(/The effect "metric" was not declared.*value/),
    ]);
  });

  it("are left where the run was aborted while one was carried out", async () => {
    const { agent } = agentOf([directs({ type: "run-instruction", instruction: "hang", input: 1 }, { type: "stop" }), "Never."]);
    let begun = (): void => {};
    const began = new Promise<void>((resolve) => (begun = resolve));
    const effects = createLocalEffectExecutor({ instructions: { hang: () => (begun(), new Promise<undefined>(() => {})) } });
    const run = runnerOf(agent, { effects }).run("go");
    await began;
    void run.abort();
    const outcome = await run.outcome;
    expect(outcome.reason).toBe("aborted");
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual([undefined, undefined]);
  });
});

describe("options", () => {
  it("name the filter that is none, and change the agent's digest", () => {
    const model = scriptedModel([]);
    const invalid = (directiveFilters: unknown): unknown => {
      try {
        return createAgent({ name: "a", model, directiveFilters: directiveFilters as never });
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(invalid({})).toBe("directiveFilters must be a list of filters.");
    expect(invalid([{ filter: () => undefined }])).toBe("directiveFilters[0] needs a name: it stands in what is refused.");
    expect(invalid([{ name: "f" }])).toBe('directiveFilters[0] ("f") needs a function `filter`.');
    const plain = createAgent({ name: "a", model });
    const filter = { name: "f", filter: (directive: Directive) => directive };
    expect(plain.with({ directiveFilters: [filter] }).digest).not.toBe(plain.digest);
    expect(createFilterChain(plain.with({ directiveFilters: [filter] }).options.directiveFilters).length).toBe(1);
  });
});

describe("an effect tool", () => {
  const remember = defineEffectTool({
    name: "remember",
    description: "Keep a fact.",
    input: { type: "object", properties: { fact: { type: "string" } }, required: ["fact"] },
    effect: ({ fact }) => ({ type: "write-memory", scope: { type: "global" }, key: "fact", value: fact as string }),
  });

  it("yields its effect into the log instead of running, and tells the model that it was accepted, and its id [CE-23, LA-10]", async () => {
    const store = mockStateStore();
    const model = scriptedModel([
      { toolCalls: [{ name: "remember", input: { fact: "tea is hot" } }] },
      () => {
        expect(store.writes).toEqual([]);
        return "Noted.";
      },
    ]);
    const agent = createAgent({ name: "main", model, tools: [remember] });
    const { events, outcome } = await watch(runnerOf(agent, { state: store }).run("go"));
    const id = outcome.effects[0]?.meta?.id;
    expect(ofType(events, "tool-result")).toMatchObject([{ output: `Accepted: it will be carried out. (${id})`, isError: false }]);
    expect(store.writes).toMatchObject([{ key: "fact", value: "tea is hot" }]);
    expect(outcome.effects).toMatchObject([{ type: "write-memory", value: "tea is hot", meta: { outcome: "done" } }]);
  });

  it("is for permissions what it leads to: no read", async () => {
    expect(remember.effect).toBe("idempotent");
    const model = scriptedModel([{ toolCalls: [{ name: "remember", input: { fact: "x" } }] }, "Noted."]);
    const agent = createAgent({ name: "main", model, tools: [remember], permissions: { mode: "plan-only" } });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.effects).toEqual([]);
    expect(ofType(events, "tool-result")).toMatchObject([{ isError: true }]);
  });

  it("says so where nobody takes effects, and at definition what is wrong with it", async () => {
    const call = { attempt: 1 } as never;
    expect(() => remember.execute({ fact: "x" }, call)).toThrow("nobody here takes it");
    expect(() => defineEffectTool({ name: "x", description: "x", input: { type: "object" } } as never)).toThrow(
      'Tool "x": `effect` must be a function',
    );
  });
});
