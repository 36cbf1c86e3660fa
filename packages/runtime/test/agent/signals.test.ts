import { agentTool, createAgent, type AgentOptions, type Run } from "keelson";
import { definePlugin, fsmStrategy, signalRoute, waitForSignalTool, type SignalContext } from "keelson/agent";
import type { Clock } from "keelson/session";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from "keelson/testing";
import {
  AgentError,
  inboxLog,
  sessionLog,
  ToolError,
  type EventLog,
  type JsonObject,
  type JsonValue,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, watch, type Watched } from "./support.ts";

const work: ScriptedTurn = { toolCalls: [{ name: "work" }] };
const wait: ScriptedTurn = { toolCalls: [{ name: "wait_for_signal" }] };
/** A clock that stands still. */
const standing = (now = 1_000_000): Clock => ({ now: () => now, after: () => () => {} });

/** An agent whose tool `work` calls back while it runs, so that a signal comes in the middle of a turn. */
function working(
  during: (run: Run<undefined>) => Promise<void> | void,
  options: Partial<AgentOptions> = {},
  turns: readonly ScriptedTurn[] = [work, "done"],
) {
  const model = scriptedModel(turns);
  let run: Run<undefined>;
  const tool = {
    ...recordingTool("work", { effect: "read" }),
    async execute() {
      await during(run);
      return "worked";
    },
  };
  const agent = createAgent({ name: "worker", model, tools: [tool, ...(options.tools ?? [])], ...without(options) });
  return {
    model,
    async go(): Promise<Watched<undefined>> {
      run = runnerOf(agent).run("go", { session: "s" });
      return watch(run);
    },
  };
}

function without({ tools: _, ...options }: Partial<AgentOptions>): Partial<AgentOptions> {
  return options;
}

/** The messages of the model's last request, behind the first. */
function lastAsked(model: ScriptedModel): readonly unknown[] {
  return (model.requests.at(-1)?.messages ?? [])
    .slice(1)
    .map(({ role, content }) => [role, content.map((part) => ("text" in part ? part.text : part.type)).join()]);
}

async function recordsOf(log: EventLog, type: string, session = "s"): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) if (record.type === type) found.push(record.data);
  return found;
}

describe("a signal without a route", () => {
  it("stops the run gracefully when it says stop: what runs may finish, nothing new starts [SI-02]", async () => {
    const { go } = working((run) => run.signal({ kind: "stop", payload: null }));
    const { outcome, events } = await go();
    expect(outcome.reason).toBe("stopped");
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual(["worked"]);
    expect(ofType(events, "inbox-read").map(({ stopping, signal }) => [stopping, signal])).toEqual([
      ["stop", { kind: "stop", action: "graceful-stop" }],
    ]);
  });

  it.each<readonly [Signal, string]>([
    [{ kind: "user-message", payload: "hurry" }, "hurry"],
    [{ kind: "user-message", payload: { text: "hurry" } }, "hurry"],
    [{ kind: "user-message", payload: { role: "user", content: [{ type: "text", text: "hurry" }] } }, "hurry"],
    [{ kind: "user-message", payload: { message: { role: "system", content: [{ type: "text", text: "hurry" }] } } }, "hurry"],
    [{ kind: "user-message", payload: { role: "assistant", content: [] } }, `{"content":[],"role":"assistant"}`],
    [{ kind: "tool-result", payload: { callId: "c", output: 5 } }, `Signal "tool-result": {"callId":"c","output":5}`],
    [{ kind: "timer", payload: "nightly" }, `Signal "timer": nightly`],
    [{ kind: "order-shipped", payload: null }, `Signal "order-shipped".`],
  ])("is told to the model before its next response: %j [SI-02]", async (signal, text) => {
    const { model, go } = working((run) => run.signal(signal));
    const { outcome, events } = await go();
    expect(outcome.reason).toBe("complete");
    expect(lastAsked(model).at(-1)).toEqual([expect.stringMatching(/user|system/), text]);
    expect(ofType(events, "inbox-read").map((event) => event.signal)).toEqual([{ kind: signal.kind, action: "message" }]);
  });

  it("gives the model one more turn when it comes with the last response", async () => {
    let told: (() => Promise<void>) | undefined;
    const { model, go } = working((run) => void (told = () => run.signal({ kind: "late", payload: 1 })), {}, [
      work,
      { text: "done", wait: async () => told?.() },
      "really done",
    ]);
    const { outcome } = await go();
    expect(outcome.text).toBe("really done");
    expect(lastAsked(model).at(-1)).toEqual(["user", `Signal "late": 1`]);
  });
});

describe("the route of a signal", () => {
  it("is the strategy's before the agent's before a plugin's, whatever their priorities [SI-05, SI-06]", async () => {
    const routed = async (tiers: { strategy?: boolean; agent?: boolean }) => {
      const seen: string[] = [];
      const see = (name: string) => ({ kind: "x", action: { type: "custom", name } as const, priority: name.length });
      const builder = fsmStrategy().initial("a").tools("work");
      const { go } = working((run) => run.signal({ kind: "x", payload: null }), {
        strategy: (tiers.strategy ? builder.route(see("s")) : builder).build(),
        signalRoutes: tiers.agent ? [see("agent")] : [],
        onSignal: Object.fromEntries(["s", "agent", "plugin"].map((name) => [name, () => void seen.push(name)])),
        plugins: [definePlugin({ key: "p", initialState: {}, signalRoutes: [see("plugin")] })],
      });
      await go();
      return seen;
    };
    expect(await routed({ strategy: true, agent: true })).toEqual(["s"]);
    expect(await routed({ agent: true })).toEqual(["agent"]);
    expect(await routed({})).toEqual(["plugin"]);
  });

  it("lets the run go on as if nothing had come, with `continue` [SI-04]", async () => {
    const { model, go } = working((run) => run.signal({ kind: "stop", payload: null }), {
      signalRoutes: [signalRoute("stop", { type: "continue" })],
    });
    const { outcome, events } = await go();
    expect([outcome.reason, lastAsked(model).length]).toEqual(["complete", 2]);
    expect(ofType(events, "inbox-read")[0]?.signal).toEqual({ kind: "stop", action: "continue" });
  });

  it("ends the run gracefully or at once, as it says [SI-04]", async () => {
    const ended = async (type: "graceful-stop" | "force-stop") => {
      const { go } = working(
        async (run) => {
          await run.signal({ kind: "halt", payload: null });
          // What ignores every signal is left behind.
          if (type === "force-stop") await new Promise(() => {});
        },
        { signalRoutes: [signalRoute("halt", { type })] },
      );
      return (await go()).outcome.reason;
    };
    expect(await ended("graceful-stop")).toBe("stopped");
    expect(await ended("force-stop")).toBe("aborted");
  });

  it("moves the state machine to the state it names: calls that have not started are judged there [SI-04]", async () => {
    const strategy = fsmStrategy()
      .initial("open")
      .state("open", { tools: ["work", "pay"] })
      .state("frozen", { tools: ["look"] })
      .transition("open", "pay", "open")
      .transition("frozen", "look", "frozen")
      .route({ kind: "freeze", action: { type: "transition", state: "frozen" }, priority: 0 })
      .build();
    const pay = recordingTool("pay", { effect: "write" });
    const { model, go } = working(
      (run) => run.signal({ kind: "freeze", payload: null }),
      { strategy, tools: [pay, recordingTool("look", { effect: "read" })] },
      [{ toolCalls: [{ name: "work" }, { name: "pay" }] }, "done"],
    );
    const { events } = await go();
    expect(pay.calls).toEqual([]);
    expect(ofType(events, "tool-result").map(({ isError }) => isError)).toEqual([false, true]);
    expect(model.requests.map(({ tools = [] }) => tools.map(({ name }) => name))).toEqual([["pay", "work"], ["look"]]);
  });

  it("warns and does nothing when it names a state that is not there, as a plugin's may", async () => {
    for (const strategy of [undefined, fsmStrategy().initial("a").tools("work").build()]) {
      const { go } = working((run) => run.signal({ kind: "x", payload: null }), {
        ...(strategy && { strategy }),
        plugins: [definePlugin({ key: "p", initialState: {}, signalRoutes: [signalRoute("x", { type: "transition", state: "gone" })] })],
      });
      const { outcome, events } = await go();
      expect(outcome.reason).toBe("complete");
      const warnings = ofType(events, "status").filter(({ level }) => level === "warn");
      expect(warnings.map(({ status }) => status)).toEqual([expect.stringMatching(/^signal "x": .*"gone"/)]);
    }
  });

  it("calls a handler, once, which is told where the run stands, and does what it says [SI-04]", async () => {
    const contexts: SignalContext[] = [];
    const strategy = fsmStrategy()
      .initial("a")
      .state("b", { tools: ["look"] })
      .tools("work")
      .transition("a", "look", "b")
      .build();
    const { model, go } = working(
      async (run) => {
        for (const payload of ["message", "transition", "continue", "nothing"]) await run.signal({ kind: "x", payload });
      },
      {
        strategy,
        tools: [recordingTool("look", { effect: "read" })],
        metadata: { team: "red" },
        signalRoutes: [signalRoute("x", { type: "custom", name: "decide" })],
        onSignal: {
          decide({ payload }, context) {
            contexts.push(context);
            if (payload === "message") return { type: "message", text: "Look at it." };
            if (payload === "transition") return { type: "transition", state: "b" };
            return payload === "continue" ? { type: "continue" } : undefined;
          },
        },
      },
    );
    const { events } = await go();
    expect(contexts).toHaveLength(4);
    expect(contexts[0]).toMatchObject({ session: "s", state: "a", metadata: { team: "red" } });
    expect(lastAsked(model).slice(2)).toEqual([["user", "Look at it."]]);
    expect(model.requests.at(-1)?.tools?.map(({ name }) => name)).toEqual(["look", "work"]);
    expect(ofType(events, "inbox-read").map(({ signal }) => signal?.action)).toEqual(Array(4).fill("custom decide"));
  });

  it("ends the run when its handler says so, throws, or returns nonsense; also when its predicate throws", async () => {
    const ended = async (handler: () => unknown, predicate?: () => boolean) => {
      const { go } = working((run) => run.signal({ kind: "x", payload: null }), {
        signalRoutes: [signalRoute("x", { type: "custom", name: "decide" }, 0, predicate)],
        onSignal: { decide: handler as () => undefined },
      });
      const { outcome } = await go();
      return outcome.error ? `${outcome.error.failure.kind}: ${outcome.error.message}` : outcome.reason;
    };
    const thrower = (): never => {
      throw new Error("no luck");
    };
    expect(await ended(() => ({ type: "graceful-stop" }))).toBe("stopped");
    expect(await ended(() => ({ type: "force-stop" }))).toBe("aborted");
    expect(await ended(thrower)).toMatch(/^panic: .*on-signal" threw: no luck/);
    expect(await ended(() => ({ type: "custom", name: "decide" }))).toMatch(/^panic: .*return one of continue/);
    expect(await ended(() => undefined, thrower)).toMatch(/^panic: a predicate on signals "x" threw: no luck/);
  });

  it("warns when a plugin names a handler that is not there", async () => {
    const { go } = working((run) => run.signal({ kind: "x", payload: null }), {
      plugins: [definePlugin({ key: "p", initialState: {}, signalRoutes: [signalRoute("x", { type: "custom", name: "gone" })] })],
    });
    const { outcome, events } = await go();
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "status").map(({ status }) => status)).toContain(`nothing handles the signal "x": onSignal has no "gone"`);
  });

  it.each<readonly [string, Partial<AgentOptions>]>([
    ["signalRoutes[0]", { signalRoutes: [{} as never] }],
    ["signalRoutes[0]", { signalRoutes: [signalRoute("", { type: "continue" })] }],
    ["signalRoutes[1]", { signalRoutes: [signalRoute("x", { type: "continue" }), signalRoute("x", { type: "jump" } as never)] }],
    ["signalRoutes[0]", { signalRoutes: [signalRoute("x", { type: "continue" }, Number.NaN)] }],
    ["signalRoutes[0]", { signalRoutes: [{ kind: "x", action: { type: "continue" }, priority: 0, predicate: true as never }] }],
    ["signalRoutes[0]", { signalRoutes: [signalRoute("x", { type: "transition", state: "gone" })] }],
    ["signalRoutes[0]", { signalRoutes: [signalRoute("x", { type: "custom", name: "toString" })], onSignal: {} }],
    ["signalRoutes", { signalRoutes: {} as never }],
    ["onSignal.x", { onSignal: { x: 1 as never } }],
  ])("is checked where the agent is made: %s of %j", (option, options) => {
    let thrown: unknown;
    try {
      createAgent({ name: "a", model: scriptedModel([]), ...options });
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown, "invalid-option") && thrown.failure.option).toBe(option);
  });
});

describe("a signal to a session", () => {
  const waiting = (turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}, tools = [waitForSignalTool({ kinds: ["paid"] })]) =>
    createAgent({ name: "a", model: scriptedModel(turns), tools, ...options });

  it("is refused where nobody could take it: no session, a run that is over, what is no signal", async () => {
    const runner = runnerOf(waiting(["done"]));
    const paid: Signal = { kind: "paid", payload: null };
    await runner.run("go", { session: "s" }).outcome;
    await expect(runner.signal("s", paid)).rejects.toThrow(/is over/);
    await runner.sessions.rename("s", "renamed");
    await expect(runner.signal("s", paid)).rejects.toThrow(/is over/);
    await expect(runner.signal("nowhere", paid)).rejects.toThrow(/There is no session/);
    const empty = await runner.sessions.create();
    await expect(runner.signal(empty, paid)).rejects.toThrow(/is over/);
    for (const nonsense of [{ kind: "" }, {}, undefined, { kind: "x", payload: 1n }]) {
      const error: unknown = await runner.signal("s", nonsense as never).catch((thrown: unknown) => thrown);
      expect(AgentError.is(error, "invalid-option") && error.failure.option).toBe("signal");
    }
    const run = runner.run("go");
    await expect(run.signal({ kind: "" } as never)).rejects.toThrow(/signal needs a kind/);
    await run.outcome;
    await run.signal(paid);
  });

  it("that came too late for a run is told to the next one where the model would have been told; to all else it is void", async () => {
    const log = createMemoryEventLog();
    const handled: JsonValue[] = [];
    const model = scriptedModel(["one", "two"]);
    const agent = createAgent({
      name: "a",
      model,
      signalRoutes: [signalRoute("x", { type: "custom", name: "see" }), signalRoute("y", { type: "continue" })],
      onSignal: { see: ({ payload }) => void handled.push(payload) },
    });
    const runner = runnerOf(agent, { log });
    await runner.run("go", { session: "s" }).outcome;
    // What was written in the moment of the run's end.
    for (const kind of ["stop", "x", "y", "timer"])
      await log.append(inboxLog("s" as SessionId), "any", [{ key: kind, type: "signal", data: { signal: { kind, payload: 1 } } }]);
    const { outcome, events } = await watch(runner.run("again", { session: "s" }));
    expect([outcome.reason, handled]).toEqual(["complete", []]);
    expect(lastAsked(model).slice(2)).toEqual([["user", `Signal "timer": 1`]]);
    expect(ofType(events, "inbox-read").map(({ signal }) => signal?.action)).toEqual(Array(4).fill("late"));
  });

  it("is told once under one key, whoever repeats it", async () => {
    const log = createMemoryEventLog();
    const runner = runnerOf(waiting([wait]), { log });
    await runner.run("go", { session: "s" }).outcome;
    await runner.signal("s", { kind: "note", payload: 1 }, { key: "n1" });
    await runner.signal("s", { kind: "note", payload: 1 }, { key: "n1" });
    await runner.signal("s", { kind: "note", payload: 2 }, { key: "n1" });
    await runner.signal("s", { kind: "note", payload: 3 });
    await (
      await runner.resume("s")
    ).outcome;
    expect((await recordsOf(log, "signal")).map(({ payload }) => payload)).toEqual([1, 3]);
  });

  it("reaches a run that waits for a person when it is resumed: stop ends it, anything else is told once the call has its result", async () => {
    const ask = () => {
      const model = scriptedModel([{ toolCalls: [{ name: "pay" }] }, "done"]);
      const agent = createAgent({ name: "a", model, tools: [recordingTool("pay", { risk: "high" })] });
      return { model, runner: runnerOf(agent) };
    };
    const stopped = ask();
    expect((await stopped.runner.run("go", { session: "s" }).outcome).reason).toBe("awaiting-approval");
    await stopped.runner.signal("s", { kind: "stop", payload: null });
    expect((await (await stopped.runner.resume("s")).outcome).reason).toBe("stopped");

    const told = ask();
    const { waits = [] } = await told.runner.run("go", { session: "s" }).outcome;
    await told.runner.signal("s", { kind: "timer", payload: "tick" });
    expect((await (await told.runner.resume("s")).outcome).reason).toBe("awaiting-approval");
    for (const { ...open } of waits) if (open.type === "approval") await told.runner.approve(open.token, { type: "allow" });
    expect((await (await told.runner.resume("s")).outcome).reason).toBe("complete");
    expect(lastAsked(told.model).slice(1)).toEqual([
      ["tool", "tool-result"],
      ["user", `Signal "timer": tick`],
    ]);
  });

  it("wakes a run that waits for a person in this process", async () => {
    const agent = createAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [{ name: "pay" }] }]),
      tools: [recordingTool("pay", { risk: "high" })],
    });
    const runner = runnerOf(agent, { clock: standing() });
    const run = runner.run("go", { session: "s" });
    for await (const _question of run.approvals()) {
      await runner.signal("s", { kind: "stop", payload: null });
      break;
    }
    expect((await run.outcome).reason).toBe("stopped");
  });
});

describe("a tool that waits for a signal", () => {
  const agentOf = (turns: readonly ScriptedTurn[], ...tools: readonly Parameters<typeof waitForSignalTool>[0][]) => {
    const model = scriptedModel(turns);
    return { model, agent: createAgent({ name: "a", model, tools: tools.map((options) => waitForSignalTool(options)) }) };
  };
  const outputs = (events: Watched<unknown>["events"]): readonly JsonValue[] => ofType(events, "tool-result").map(({ output }) => output);

  it("suspends the run, says what for, and gives the signal as its result when it comes, in another process too, once", async () => {
    const log = createMemoryEventLog();
    const first = agentOf([wait], { kinds: ["paid", "cancelled"] });
    const { outcome } = await watch(runnerOf(first.agent, { log }).run("go", { session: "s" }));
    expect(outcome).toMatchObject({
      reason: "awaiting-signal",
      waits: [
        { type: "signal", name: "paid", session: "s" },
        { type: "signal", name: "cancelled", session: "s" },
      ],
    });
    const second = agentOf(["done"], { kinds: ["paid", "cancelled"] });
    const runner = runnerOf(second.agent, { log });
    // Nothing came: it waits on.
    expect((await (await runner.resume("s")).outcome).reason).toBe("awaiting-signal");
    expect(await runner.recover()).toEqual({ runs: [], failed: [] });
    await runner.signal("s", { kind: "paid", payload: { amount: 5 } });
    await runner.signal("s", { kind: "paid", payload: { amount: 6 } });
    const [run] = (await runner.recover()).runs;
    const { events, outcome: end } = await watch(run as Run<undefined>);
    expect(end).toMatchObject({ reason: "complete", text: "done" });
    expect(outputs(events)).toEqual([{ signal: { kind: "paid", payload: { amount: 5 } } }]);
    expect(ofType(events, "run-resume")[0]?.cause).toBe("signal");
    // One signal answers one call; the second was told.
    expect(lastAsked(second.model).at(-1)).toEqual(["user", `Signal "paid": {"amount":6}`]);
  });

  it("leaves what it does not wait for to the model, and waits on", async () => {
    const { model, agent } = agentOf([wait, "done"], { kinds: ["paid"] });
    const runner = runnerOf(agent);
    await runner.run("go", { session: "s" }).outcome;
    await runner.signal("s", { kind: "weather", payload: "rain" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("awaiting-signal");
    await runner.signal("s", { kind: "paid", payload: null });
    await (
      await runner.resume("s")
    ).outcome;
    expect(lastAsked(model).at(-1)).toEqual(["user", `Signal "weather": rain`]);
  });

  it("takes any signal where it names no kinds, but none that stops the run", async () => {
    const { agent } = agentOf([wait, "done"], {});
    const stopped = runnerOf(agent);
    expect((await stopped.run("go", { session: "s" }).outcome).waits).toEqual([{ type: "signal", name: "*", session: "s" }]);
    await stopped.signal("s", { kind: "stop", payload: null });
    const { events, outcome } = await watch(await stopped.resume("s"));
    expect(outcome.reason).toBe("stopped");
    expect(ofType(events, "tool-result")[0]?.isError).toBe(true);
    const any = agentOf([wait, "done"], {});
    const runner = runnerOf(any.agent);
    await runner.run("go", { session: "s" }).outcome;
    await runner.signal("s", { kind: "user-message", payload: "go on" });
    expect(outputs((await watch(await runner.resume("s"))).events)).toEqual([{ signal: { kind: "user-message", payload: "go on" } }]);
  });

  it("gets its signal whatever the signal's route does besides", async () => {
    const seen: JsonValue[] = [];
    const model = scriptedModel([wait, "done"]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [waitForSignalTool({ kinds: ["paid"] })],
      signalRoutes: [signalRoute("paid", { type: "custom", name: "book" })],
      onSignal: { book: ({ payload }) => void seen.push(payload) },
    });
    const runner = runnerOf(agent);
    await runner.run("go", { session: "s" }).outcome;
    await runner.signal("s", { kind: "paid", payload: 5 });
    const { events } = await watch(await runner.resume("s"));
    expect([seen, outputs(events)]).toEqual([[5], [{ signal: { kind: "paid", payload: 5 } }]]);
  });

  it("that waits for time alone suspends until then, and is found when it is over, not before", async () => {
    let now = 1_000_000;
    const { agent } = agentOf([{ toolCalls: [{ name: "wait" }] }, "done"], { kinds: [], timeoutMs: 60_000 });
    const runner = runnerOf(agent, { clock: { now: () => now, after: () => () => {} } });
    const { outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "awaiting-timer", waits: [{ type: "timer", at: 1_060_000 }] });
    now += 59_999;
    expect(await runner.recover()).toEqual({ runs: [], failed: [] });
    now += 1;
    const [run] = (await runner.recover()).runs;
    const { events, outcome: end } = await watch(run as Run<undefined>);
    expect(end.reason).toBe("complete");
    expect(outputs(events)).toEqual([{ timedOut: true }]);
    expect(ofType(events, "run-resume")[0]?.cause).toBe("timer");
  });

  it("stops waiting when its time is over, which the model may shorten and not lengthen", async () => {
    const until = async (input: JsonObject) => {
      const { agent } = agentOf([{ toolCalls: [{ name: "wait_for_signal", input }] }, "done"], { kinds: ["paid"], timeoutMs: 60_000 });
      const { outcome, events } = await watch(runnerOf(agent, { clock: standing(0) }).run("go"));
      return outcome.waits?.find(({ type }) => type === "timer") ?? outputs(events);
    };
    expect(await until({})).toEqual({ type: "timer", at: 60_000 });
    expect(await until({ seconds: 5 })).toEqual({ type: "timer", at: 5_000 });
    expect(JSON.stringify(await until({ seconds: 61 }))).toContain("seconds");
  });

  it("waits in this process for so long as the runner says, and goes on by itself when the signal comes", async () => {
    const { agent } = agentOf([wait, "done"], { kinds: ["paid"] });
    const run = runnerOf(agent, { clock: standing(), signalWaitMs: 60_000 }).run("go", { session: "s" });
    const seen: string[] = [];
    for await (const event of run) {
      seen.push(String(event.type));
      if (event.type === "tool-calls-start" || event.type === "usage") await run.signal({ kind: "paid", payload: 1 });
    }
    expect((await run.outcome).reason).toBe("complete");
    expect(seen).not.toContain("run-suspend");
  });

  it("is over in this process too when its time is, when the user steers away, and when the run is stopped", async () => {
    const ended = async (act: (run: Run<undefined>) => Promise<void>, clock: Clock = standing()) => {
      const { agent } = agentOf([wait, "done"], { kinds: ["paid"], timeoutMs: 1000 });
      const waiting = Promise.withResolvers<void>();
      const watchedClock: Clock = {
        now: () => clock.now(),
        after(ms, due, options) {
          if (ms === 1000) waiting.resolve();
          return clock.after(ms, due, options);
        },
      };
      const run = runnerOf(agent, { clock: watchedClock, signalWaitMs: 60_000 }).run("go", { session: "s" });
      const watched = watch(run);
      await waiting.promise;
      await act(run);
      const { events, outcome } = await watched;
      return [outcome.reason, outputs(events)];
    };
    // Its own second passes, the runner's minute does not.
    let now = 0;
    const second: Clock = {
      now: () => now,
      after(ms, run, { keepAlive = true } = {}) {
        if (keepAlive && ms === 1000) queueMicrotask(() => ((now += ms), run()));
        return () => {};
      },
    };
    expect(await ended(async () => {}, second)).toEqual(["complete", [{ timedOut: true }]]);
    expect(await ended((run) => run.steer("never mind", { interrupt: true }))).toEqual([
      "complete",
      [expect.stringContaining("new message")],
    ]);
    expect(await ended((run) => run.stop())).toEqual(["stopped", [expect.stringContaining("stopped")]]);
    expect(await ended((run) => run.abort())).toEqual(["aborted", [expect.stringContaining("aborted")]]);
  });

  it("knows of all waits of a response from its start: each gets its own signal, whichever comes first", async () => {
    const { agent } = agentOf(
      [{ toolCalls: [{ name: "first" }, { name: "second" }] }, "done"],
      { name: "first", kinds: ["a"] },
      { name: "second", kinds: ["b"] },
    );
    const runner = runnerOf(agent);
    const names = (outcome: { readonly waits?: readonly { readonly type: string }[] | undefined }) =>
      outcome.waits?.map((open) => ("name" in open ? open.name : open.type));
    expect(names(await runner.run("go", { session: "s" }).outcome)).toEqual(["a", "b"]);
    await runner.signal("s", { kind: "b", payload: 2 });
    expect(names(await (await runner.resume("s")).outcome)).toEqual(["a"]);
    await runner.signal("s", { kind: "a", payload: 1 });
    const { events, outcome } = await watch(await runner.resume("s"));
    expect(outcome.reason).toBe("complete");
    expect(outputs(events)).toEqual([{ signal: { kind: "a", payload: 1 } }, { signal: { kind: "b", payload: 2 } }]);
  });

  it("gets nothing any more once its time was over: the model is told instead", async () => {
    let now = 0;
    const { model, agent } = agentOf(
      [{ toolCalls: [{ name: "first" }, { name: "second" }] }, "done"],
      { name: "first", kinds: ["a"], timeoutMs: 1000 },
      { name: "second", kinds: ["b"] },
    );
    const runner = runnerOf(agent, { clock: { now: () => now, after: () => () => {} } });
    await runner.run("go", { session: "s" }).outcome;
    now = 1000;
    expect((await (await runner.resume("s")).outcome).waits).toEqual([{ type: "signal", name: "b", session: "s" }]);
    await runner.signal("s", { kind: "a", payload: 1 });
    await runner.signal("s", { kind: "b", payload: 2 });
    const { events } = await watch(await runner.resume("s"));
    expect(outputs(events)).toEqual([{ signal: { kind: "b", payload: 2 } }]);
    expect(lastAsked(model).at(-1)).toEqual(["user", `Signal "a": 1`]);
  });

  it("makes those wait who started its run; the signal goes to the session that the wait names", async () => {
    const child = createAgent({
      name: "child",
      model: scriptedModel([wait, "paid indeed"], { name: "child/model" }),
      tools: [waitForSignalTool({ kinds: ["paid"] })],
    });
    const parent = createAgent({
      name: "parent",
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { task: "wait" } }] }, "all done"]),
      tools: [agentTool(child)],
    });
    const runner = runnerOf(parent);
    const { reason, waits = [] } = await runner.run("go", { session: "s" }).outcome;
    expect(reason).toBe("awaiting-signal");
    const [open] = waits;
    expect(open).toMatchObject({ type: "signal", name: "paid", path: ["child"] });
    await runner.signal(open?.type === "signal" ? (open.session ?? "") : "", { kind: "paid", payload: null });
    const [run] = (await runner.recover()).runs;
    expect(await (run as Run<undefined>).outcome).toMatchObject({ reason: "complete", text: "all done" });
  });

  it.each<readonly [Parameters<typeof waitForSignalTool>[0], RegExp]>([
    [{ kinds: [] }, /needs a `timeoutMs`/],
    [{ kinds: [""] }, /`kinds`/],
    [{ timeoutMs: 0 }, /over 0/],
    [{ name: "no name" }, /name/],
  ])("is refused as %j", (options, message) => {
    let thrown: unknown;
    try {
      waitForSignalTool(options);
    } catch (error) {
      thrown = error;
    }
    expect(ToolError.is(thrown, "invalid-definition") && thrown.message).toMatch(message);
  });
});
