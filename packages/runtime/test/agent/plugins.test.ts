import { agentTool, createAgent, createRunner, type AgentEvent, type RunnerOptions, type SingleRunner } from "keelson";
import { definePlugin, loadJsonPatch, type Plugin } from "keelson/agent";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, sessionLog, textMessage, type EventLog, type JsonValue, type LogRecord, type SessionId } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

const look: ScriptedTurn = { toolCalls: [{ name: "look" }] };

/** A plugin that notes each of its calls in its state. */
function diary(key = "diary"): Plugin<{ lines: string[] }> {
  return definePlugin({
    key,
    initialState: { lines: [] as string[] },
    beforeRun: ({ turn, message }, state) => void state.value.lines.push(`before ${turn} ${message}`),
    onUserMessage: ({ turn, message }, state) => void state.value.lines.push(`heard ${turn} ${message}`),
    onEvent: ({ turn, event }, state) => void state.value.lines.push(`saw ${turn} ${event.type}`),
    afterRun: ({ turn, message, reason }, state) => void state.value.lines.push(`after ${turn} ${message} ${reason}`),
  });
}

function runnerWith(turns: readonly ScriptedTurn[], plugins: readonly Plugin[], options: RunnerOptions = {}): SingleRunner {
  const tools = [recordingTool("look", { effect: "read" })];
  return runnerOf(createAgent({ name: "a", model: scriptedModel(turns), tools, plugins }), options);
}

/** What whoever follows the events makes of the state. */
async function stateFrom(events: readonly AgentEvent[]): Promise<JsonValue> {
  const { apply } = await loadJsonPatch();
  return ofType(events, "state-update").reduce<JsonValue>((state, { patch }) => apply(state, structuredClone(patch)), {});
}

async function stateOf(runner: { readonly sessions: SingleRunner["sessions"] }, session: string): Promise<unknown> {
  return (await runner.sessions.get(session)).state["plugins"];
}

describe("an agent's plugins", () => {
  it("are called before the run, for each message of the user, for its events, and after it [AG-11, PL-08, PL-09]", async () => {
    const runner = runnerWith([look, "done"], [diary()]);
    const { outcome } = await watch(runner.run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(await stateOf(runner, "s")).toEqual({
      diary: {
        lines: [
          "before 0 go",
          "heard 1 go",
          ...["run-start", "message", "turn-start", "usage", "message", "tool-calls-start", "tool-result", "tool-calls-complete"].map(
            (type) => `saw 1 ${type}`,
          ),
          ...["turn-end", "turn-start", "usage", "message", "turn-end", "run-result"].map((type) => `saw 2 ${type}`),
          "after 2 done complete",
        ],
      },
    });
  });

  it("show every change of state as a patch, one for each callback, from which watchers have the state [EV-07]", async () => {
    const runner = runnerWith([look, "done"], [diary("one"), diary("two")]);
    const { events } = await watch(runner.run("go", { session: "s" }));
    // Initial states; then of each: before, heard, seen, seen, after.
    expect(ofType(events, "state-update")).toHaveLength(1 + 2 * 5);
    expect(ofType(events, "state-update")[0]?.patch).toEqual([
      { op: "add", path: "/plugins", value: { one: { lines: [] }, two: { lines: [] } } },
    ]);
    expect(ofType(events, "state-update")[1]?.patch).toEqual([{ op: "add", path: "/plugins/one/lines/0", value: "before 0 go" }]);
    expect(await stateFrom(events)).toEqual((await runner.sessions.get("s")).state);
  });

  it("hear steering too, each message once, before a model is asked with it", async () => {
    const heard: unknown[] = [];
    const plugin = definePlugin({
      key: "ears",
      initialState: 0,
      onUserMessage: ({ turn, message }) => void heard.push([turn, message, model.requests.length]),
    });
    const model = scriptedModel([look, look, "done"]);
    const tool = recordingTool("look", {
      effect: "read",
      output: () => {
        if (heard.length === 1) void run.steer("faster").then(() => run.steer("and better"));
        return "seen";
      },
    });
    const run = runnerOf(createAgent({ name: "a", model, tools: [tool], plugins: [plugin], loopGuard: false })).run("go");
    expect((await run.outcome).reason).toBe("complete");
    expect(heard[0]).toEqual([1, "go", 0]);
    expect(heard.slice(1).map((one) => (one as unknown[])[1])).toEqual(["faster", "and better"]);
    for (const [turn, message, asked] of heard.slice(1) as [number, string, number][]) {
      expect(asked).toBe(turn - 1);
      expect(model.requests[asked]?.messages).toContainEqual(textMessage("user", message));
    }
  });

  it("have each a state that no other reads: not by the handle, the events, or names that objects inherit [PL-01, PL-06]", async () => {
    const found: unknown[] = [];
    const shown: string[] = [];
    const secret = definePlugin({
      key: "secret",
      initialState: { token: "hush" },
      beforeRun: (_input, state) => void (state.value.token = "hush hush"),
    });
    const spy = definePlugin({
      key: "constructor",
      initialState: {} as { [name: string]: string },
      beforeRun(_input, state) {
        const handle = state as unknown as { readonly [name: string]: unknown };
        found.push(Object.keys(handle), handle["secret"], handle["plugins"], Object.getPrototypeOf(handle), state.value["secret"]);
      },
      onEvent: ({ event }) => void shown.push(JSON.stringify(event)),
    });
    const runner = runnerWith(["done"], [secret, spy]);
    await runner.run("go", { session: "s" }).outcome;
    expect(found).toEqual([["value"], undefined, undefined, Object.prototype, undefined]);
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((event) => event.includes("hush") || event.includes("state-update"))).toEqual([]);
    expect(await stateOf(runner, "s")).toEqual({ secret: { token: "hush hush" }, constructor: {} });
  });

  it("may not use a state outside of its callback, nor keep what is no JSON in it", async () => {
    let kept: { value: { n: number } } | undefined;
    const leaky = definePlugin({ key: "leaky", initialState: { n: 0 }, beforeRun: (_input, state) => void (kept = state) });
    await runnerWith(["done"], [leaky]).run("go").outcome;
    expect(() => kept?.value).toThrow("after the callback that it was given to was done");

    const sloppy = definePlugin({
      key: "sloppy",
      initialState: { at: null as unknown as string },
      beforeRun: (_input, state) => void (state.value.at = new Date(0) as unknown as string),
    });
    const { outcome } = await watch(runnerWith(["never"], [sloppy]).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: 'beforeRun of plugin "sloppy"' });
    expect(outcome.error?.message).toContain("an instance of Date at /at");
  });

  it("change nothing of the past by what they keep hold of, nor of the log by what they do to an event", async () => {
    const held: { lines: string[] }[] = [];
    const plugin = definePlugin({
      key: "p",
      initialState: { lines: [] as string[] },
      beforeRun: (_input, state) => void held.push(state.value),
      onUserMessage(_input, state) {
        held[0]?.lines.push("leaked");
        state.value.lines.push("proper");
      },
      onEvent({ event }) {
        if (event.type === "message") (event.message.content as unknown[]).length = 0;
      },
    });
    const model = scriptedModel([look, "done"]);
    const tools = [recordingTool("look", { effect: "read" })];
    const runner = runnerOf(createAgent({ name: "a", model, tools, plugins: [plugin] }));
    await runner.run("go", { session: "s" }).outcome;
    expect(await stateOf(runner, "s")).toEqual({ p: { lines: ["proper"] } });
    expect(model.requests[1]?.messages.map(({ content }) => content.length)).toEqual([1, 1, 1]);
  });

  it("have the state at once that a resume would read from the log", async () => {
    const plugin = definePlugin({ key: "p", initialState: { n: 1 }, onEvent: (_input, state) => void (state.value.n = -0) });
    const log = createMemoryEventLog();
    const runner = runnerWith(["done"], [plugin], { log });
    const { events } = await watch(runner.run("go", { session: "s" }));
    expect(ofType(events, "state-update").at(-1)?.patch).toStrictEqual([{ op: "replace", path: "/plugins/p/n", value: 0 }]);
    expect(await stateOf(runner, "s")).toStrictEqual({ p: { n: 0 } });
  });

  it("have at once the state that a resume would read, to the order of its members, whatever they make of it", async () => {
    // A member named "__proto__" is refused, and V8 13.6 misreads names after one that begins with a backslash.
    const isKept = (value: JsonValue) => !/"(?:__proto__"|\\\\)/.test(JSON.stringify(value));
    const state = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }).filter((value) => isKept(value as JsonValue)),
      fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(2), { noNullPrototype: true }),
    );
    await fc.assert(
      fc.asyncProperty(state, state, async (first, second) => {
        const seen: string[] = [];
        const plugin = definePlugin({
          key: "p",
          initialState: {} as JsonValue,
          beforeRun: (_input, state) => void (state.value = first),
          onUserMessage(_input, state) {
            seen.push(JSON.stringify(state.value));
            state.value = second;
          },
          afterRun: (_input, state) => void seen.push(JSON.stringify(state.value)),
        });
        const { events } = await watch(runnerWith(["done"], [plugin]).run("go"));
        const until = (type: AgentEvent["type"]) =>
          stateFrom(
            events.slice(
              0,
              events.findIndex((event) => event.type === type),
            ),
          );
        const read = (await Promise.all([until("turn-start"), until("run-result")])).map((state) =>
          JSON.stringify((state as { readonly plugins: { readonly p: JsonValue } }).plugins.p),
        );
        expect(seen).toEqual(read);
      }),
      { numRuns: 100 },
    );
  });

  it("are shown an event once it is in the log, and not before", async () => {
    const memory = createMemoryEventLog();
    let committed = 0;
    const log: EventLog = {
      ...memory,
      async append(id, ...rest) {
        const appended = await memory.append(id, ...rest);
        if (id === sessionLog("s" as SessionId)) committed = appended.seq;
        return appended;
      },
    };
    const shown: boolean[] = [];
    const plugin = definePlugin({ key: "p", initialState: 0, onEvent: ({ event }) => void shown.push(event.seq <= committed) });
    await runnerWith([look, "done"], [plugin], { log }).run("go", { session: "s" }).outcome;
    expect(shown).toHaveLength(14);
    expect(shown).not.toContain(false);
  });

  describe("with a list of the events that they want", () => {
    const tally = (key: string, events?: Plugin["events"]): Plugin<string[]> =>
      definePlugin({
        key,
        initialState: [] as string[],
        ...(events && { events }),
        onEvent: ({ event }, state) => void state.value.push(event.type),
      });
    const turns = [look, { text: "More.", toolCalls: [{ name: "look" }] }, "done"] satisfies readonly ScriptedTurn[];

    it("are shown those and no others, and leave nothing in the log of a turn that has none", async () => {
      const log = createMemoryEventLog();
      const runner = runnerWith(turns, [tally("results", ["tool-result"]), tally("ends", ["run-result", "turn-end"])], { log });
      await watch(runner.run("go", { session: "s" }));
      expect(await stateOf(runner, "s")).toEqual({
        results: ["tool-result", "tool-result"],
        ends: ["turn-end", "turn-end", "turn-end", "run-result"],
      });
      const verdicts: string[] = [];
      for await (const { key } of log.read(sessionLog("s" as SessionId)))
        if (/\/plugin\/.+\/events$/.test(key)) verdicts.push(key.slice(key.indexOf("/") + 1));
      expect(verdicts).toEqual([
        "t1/plugin/results/events",
        "t2/plugin/results/events",
        "t2/plugin/ends/events",
        "epilogue/plugin/ends/events",
      ]);
    });

    it("see what they would see beside others that want everything", async () => {
      const wanting = fc.subarray(["message", "turn-start", "tool-result", "usage", "run-result"] as const, { minLength: 1 });
      await fc.assert(
        fc.asyncProperty(wanting, fc.option(wanting, { nil: undefined }), async (mine, others) => {
          const seen = async (...plugins: readonly Plugin<string[]>[]): Promise<readonly string[]> => {
            const runner = runnerWith(turns, plugins);
            await watch(runner.run("go", { session: "s" }));
            return ((await stateOf(runner, "s")) as { readonly mine: readonly string[] }).mine;
          };
          const all = await seen(tally("mine"));
          expect(await seen(tally("mine", mine), tally("other", others))).toEqual(
            all.filter((type) => (mine as readonly string[]).includes(type)),
          );
        }),
        { numRuns: 20 },
      );
    });

    it("are refused where the list is none, names what nobody is shown, or stands without onEvent", () => {
      const onEvent = (): void => {};
      for (const [options, problem] of [
        [{ events: [], onEvent }, "must be a list of at least one type of event"],
        [{ events: "tool-result", onEvent }, "must be a list of at least one type of event"],
        [{ events: ["tool-result", "text-delta"], onEvent }, 'names "text-delta", which is no type of event that plugins are shown'],
        [{ events: ["state-update"], onEvent }, 'names "state-update", which is no type of event that plugins are shown'],
        [{ events: ["tool-result"] }, "says what onEvent is shown, and it has no onEvent"],
      ] as const)
        expect(() => definePlugin({ key: "p", initialState: 0, ...(options as object) })).toThrow(
          expect.objectContaining({
            failure: expect.objectContaining({ kind: "invalid-option", option: "events" }),
            message: expect.stringContaining(problem),
          }),
        );
    });
  });

  it("keep a state that is null", async () => {
    const seen: unknown[] = [];
    const plugin = definePlugin({
      key: "p",
      initialState: 1 as number | null,
      beforeRun: (_input, state) => void (state.value = null),
      afterRun: (_input, state) => void seen.push(state.value),
    });
    await runnerWith(["done"], [plugin]).run("go").outcome;
    expect(seen).toEqual([null]);
  });

  it("are called in their order, and only for what they have", async () => {
    const order: string[] = [];
    const named = (key: string) => definePlugin({ key, initialState: 0, beforeRun: () => void order.push(key) });
    const quiet = definePlugin({ key: "quiet", initialState: 0 });
    const runner = runnerWith(["done"], [named("b"), quiet, named("a")]);
    const { events } = await watch(runner.run("go", { session: "s" }));
    expect(order).toEqual(["b", "a"]);
    expect(types(events).filter((type) => type === "state-update")).toHaveLength(1);
    const records: string[] = [];
    const log = createMemoryEventLog();
    await runnerWith(["done"], [quiet], { log }).run("go", { session: "s" }).outcome;
    for await (const { type } of log.read(sessionLog("s" as SessionId))) records.push(type);
    expect(records).not.toContain("decision");
    expect(records).not.toContain("events-shown");
  });

  it("declare directives by what they return, each once, with the callback as their cause [PL-09]", async () => {
    const said = (name: string) => [{ type: "emit" as const, event: { name } }];
    const plugin = definePlugin({
      key: "p",
      initialState: 0,
      beforeRun: () => said("before"),
      onUserMessage: () => said("heard"),
      onEvent: ({ event }) => (event.type === "tool-result" ? said("saw") : undefined),
      afterRun: () => said("after"),
    });
    const { events } = await watch(runnerWith([look, "done"], [plugin]).run("go"));
    const directives = ofType(events, "directive").map(({ directive }) => directive);
    expect(directives).toEqual(["before", "heard", "saw", "after"].map((name) => ({ type: "emit", event: { name } })));
  });

  it("end the run in a panic that names the callback, where one throws that comes before the model", async () => {
    for (const callback of ["beforeRun", "onUserMessage"] as const) {
      const plugin = definePlugin({
        key: "p",
        name: "Clumsy",
        initialState: { n: 0 },
        [callback](_input: unknown, state: { value: { n: number } }) {
          state.value.n = 1;
          throw new RangeError("oops");
        },
      });
      const runner = runnerWith(["never"], [plugin]);
      const { outcome } = await watch(runner.run("go", { session: "s" }));
      expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: `${callback} of plugin "Clumsy"` });
      expect(outcome.error?.message).toContain("oops");
      expect(await stateOf(runner, "s")).toEqual({ p: { n: 0 } });
    }
  });

  it("warn, and change neither the run nor the state, where one throws that only looks on", async () => {
    for (const callback of ["onEvent", "afterRun"] as const) {
      const plugin = definePlugin({
        key: "p",
        initialState: { n: 0 },
        [callback](_input: unknown, state: { value: { n: number } }) {
          if (state.value.n++ > 0 || callback === "afterRun") throw new RangeError("oops");
        },
      });
      const runner = runnerWith(["done"], [plugin]);
      const { outcome, events } = await watch(runner.run("go", { session: "s" }));
      expect(outcome.reason).toBe("complete");
      expect(ofType(events, "status").map(({ status, level }) => [level, status])).toEqual([
        ["warn", `${callback} of plugin "p" threw: oops`],
      ]);
      expect(await stateOf(runner, "s")).toEqual({ p: { n: 0 } });
    }
  });

  it("are told of a run that failed, and of one that was stopped by a limit, as it ends", async () => {
    const told: unknown[] = [];
    const plugin = definePlugin({ key: "p", initialState: 0, afterRun: ({ turn, reason }) => void told.push([turn, reason]) });
    await runnerWith([{ error: { kind: "authentication", message: "no" } }], [plugin]).run("go").outcome;
    await runnerWith([look, look], [plugin]).run("go", { limits: { maxTurns: 1 } }).outcome;
    expect(told).toEqual([
      [1, "error"],
      [1, "max-turns"],
    ]);
  });

  it("of a child have the child's state, apart from the parent's", async () => {
    const count = definePlugin({ key: "count", initialState: { runs: 0 }, beforeRun: (_input, state) => void state.value.runs++ });
    const child = createAgent({ name: "helper", description: "Helps.", model: scriptedModel(["helped"]), plugins: [count] });
    const parent = createAgent({
      name: "main",
      model: scriptedModel([{ toolCalls: [{ name: "helper", input: { task: "x" } }] }, "done"]),
      tools: [agentTool(child)],
      plugins: [count],
    });
    const runner = createRunner({ agent: parent });
    const { events } = await watch(runner.run("go", { session: "s" }));
    expect(await stateOf(runner, "s")).toEqual({ count: { runs: 1 } });
    const childSession = ofType(events, "child-start")[0]?.session as string;
    expect(await stateOf(runner, childSession)).toEqual({ count: { runs: 1 } });
  });

  it("are refused where two have one key, or one was not made with definePlugin, by their place", () => {
    const invalid = (plugins: unknown): unknown => {
      try {
        createAgent({ name: "a", model: scriptedModel([]), plugins: plugins as readonly Plugin[] });
        return undefined;
      } catch (error) {
        return AgentError.is(error, "invalid-option") ? error.failure.option : error;
      }
    };
    expect(invalid([diary(), diary()])).toBe("plugins[1]");
    expect(invalid([diary(), { key: "x" }])).toBe("plugins[1]");
    expect(invalid("diary")).toBe("plugins");
  });

  it("belong to the definition: another key, callback, event or route is another digest, and with() may change them", () => {
    const agent = createAgent({ name: "a", model: scriptedModel([]), plugins: [diary()] });
    expect(agent.with({ plugins: [diary()] }).digest).toBe(agent.digest);
    const picky = { ...diary(), events: ["usage"] } as const;
    for (const plugins of [[], [diary("other")], [definePlugin({ key: "diary", initialState: { lines: [] as string[] } })], [picky]])
      expect(agent.with({ plugins }).digest).not.toBe(agent.digest);
  });
});

describe("the state of plugins in a session", () => {
  const counting = definePlugin({
    key: "counting",
    initialState: { turns: 0, runs: 0 },
    beforeRun: (_input, state) => void (state.value.turns += 0),
    onUserMessage: (_input, state) => void state.value.turns++,
    afterRun: (_input, state) => void state.value.runs++,
  });
  const responses = (count: number): readonly ScriptedTurn[] => Array.from({ length: count }, (_, n) => `answer ${n}`);

  it("lives on in its next run, in another process, and without the plugin", async () => {
    const services = { log: createMemoryEventLog(), blobs: createMemoryBlobStore() };
    for (let n = 0; n < 2; n++) await runnerWith(responses(1), [counting], services).run("go", { session: "s" }).outcome;
    const without = runnerWith(responses(1), [], services);
    await without.run("go", { session: "s" }).outcome;
    expect(await stateOf(without, "s")).toEqual({ counting: { turns: 2, runs: 2 } });
    const later = runnerWith(responses(1), [counting, diary()], services);
    await later.run("go", { session: "s" }).outcome;
    expect(await stateOf(later, "s")).toMatchObject({ counting: { turns: 3, runs: 3 }, diary: { lines: expect.anything() } });
  });

  it("is that of the turn that the session is rewound to, or forked after, with what the end of its run changed", async () => {
    const runner = runnerWith(responses(10), [counting]);
    for (let n = 0; n < 3; n++) await runner.run("go", { session: "s" }).outcome;
    expect(await stateOf(runner, "s")).toEqual({ counting: { turns: 3, runs: 3 } });

    const fork = await runner.sessions.fork("s", { turn: 2 });
    expect(await stateOf(runner, fork)).toEqual({ counting: { turns: 2, runs: 2 } });
    await runner.run("go", { session: fork }).outcome;
    expect(await stateOf(runner, fork)).toEqual({ counting: { turns: 3, runs: 3 } });
    expect(await stateOf(runner, await runner.sessions.fork(fork))).toEqual({ counting: { turns: 3, runs: 3 } });

    await runner.sessions.rewind("s", 1);
    expect(await stateOf(runner, "s")).toEqual({ counting: { turns: 1, runs: 1 } });
    expect((await runner.sessions.get("s")).messages).toHaveLength(2);
    await runner.run("go", { session: "s" }).outcome;
    expect(await stateOf(runner, "s")).toEqual({ counting: { turns: 2, runs: 2 } });

    await runner.sessions.rewind(fork, 1);
    expect(await stateOf(runner, fork)).toEqual({ counting: { turns: 1, runs: 1 } });
    await runner.sessions.rewind("s", 0);
    expect(await stateOf(runner, "s")).toBeUndefined();
    await runner.run("go", { session: "s" }).outcome;
    expect(await stateOf(runner, "s")).toEqual({ counting: { turns: 1, runs: 1 } });
  });

  it("is as before after a rewind over a compaction, too", async () => {
    const model = scriptedModel(["one", { error: { kind: "context-overflow", message: "full" } }, "two"]);
    const agent = createAgent({
      name: "a",
      model,
      plugins: [counting],
      compact: async () => ({ messages: [textMessage("user", "short")], summary: "short" }),
    });
    const runner = createRunner({ agent });
    for (let n = 0; n < 2; n++) await runner.run("go", { session: "s" }).outcome;
    await runner.sessions.rewind("s", 1);
    expect(await stateOf(runner, "s")).toEqual({ counting: { turns: 1, runs: 1 } });
    expect((await runner.sessions.get("s")).messages).toEqual([textMessage("user", "go"), textMessage("assistant", "one")]);
  });

  it("is gone on with where an earlier version wrote the log: what its batch of events fixed is shown once", async () => {
    const shown: string[] = [];
    const plugin = definePlugin({
      key: "p",
      initialState: { seen: 0 },
      onEvent({ turn, event }, state) {
        shown.push(`${turn} ${event.type}`);
        state.value.seen++;
      },
    });
    const id = sessionLog("s" as SessionId);
    const whole = createMemoryEventLog();
    await runnerWith([look, "done"], [plugin], { log: whole }).run("go", { session: "s" }).outcome;
    const expected = [...shown];
    const records: LogRecord[] = [];
    for await (const record of whole.read(id)) records.push(record);
    const at = records.findIndex(({ data }) => data["shownUpTo"] !== undefined);
    const { key, data } = records[at] as LogRecord;
    const { patch, shownUpTo } = data as { readonly patch: JsonValue; readonly shownUpTo: number };
    const batch = { key: key.replace(/plugin.*/, "events"), type: "events-shown", data: { upTo: shownUpTo } };
    const verdict = [
      { key, type: "decision", data: { value: { patch } } },
      { key: `${key}/state`, type: "state-update", data: { patch } },
    ];
    for (const [tail, again] of [
      [[batch], expected],
      [[batch, ...verdict], expected.filter((line) => line.startsWith("2 "))],
    ] as const) {
      shown.length = 0;
      const log = createMemoryEventLog();
      await log.append(id, 0, [...records.slice(0, at), ...tail]);
      const runner = runnerWith(["done"], [plugin], { log });
      const { reason } = await (await runner.resume("s")).outcome;
      expect(reason).toBe("complete");
      expect(shown.filter((line) => !line.endsWith(" run-resume"))).toEqual(again);
      expect(await stateOf(runner, "s")).toEqual({ p: { seen: expected.length + 1 } });
    }
  });

  it("counts each event once where the log ends between the verdicts of two plugins about one batch", async () => {
    const shown: string[] = [];
    const counter = (key: string) =>
      definePlugin({
        key,
        initialState: { seen: 0 },
        onEvent({ turn, event }, state) {
          shown.push(`${key} ${turn} ${event.type}`);
          state.value.seen++;
        },
      });
    const plugins = [counter("p"), counter("q")];
    const id = sessionLog("s" as SessionId);
    const whole = createMemoryEventLog();
    await runnerWith([look, "done"], plugins, { log: whole }).run("go", { session: "s" }).outcome;
    const expected = shown.filter((line) => !line.startsWith("p 1 "));
    const records: LogRecord[] = [];
    for await (const record of whole.read(id)) records.push(record);
    const log = createMemoryEventLog();
    await log.append(id, 0, records.slice(0, records.findIndex(({ key }) => key.endsWith("/t1/plugin/p/events")) + 1));
    shown.length = 0;
    const runner = runnerWith(["done"], plugins, { log });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    const again = shown.filter((line) => !line.endsWith(" run-resume"));
    expect(again).toEqual(expected);
    expect(shown.filter((line) => line.endsWith(" run-resume"))).toEqual(["p 2 run-resume", "q 2 run-resume"]);
  });

  it("that a record can't have made ends in an error that names the record", async () => {
    const log = createMemoryEventLog();
    const runner = runnerWith(responses(2), [counting], { log });
    await runner.run("go", { session: "s" }).outcome;
    const id = sessionLog("s" as SessionId);
    const head = await log.head(id);
    await log.append(id, head, [{ key: "x/broken", type: "state-update", data: { patch: [{ op: "remove", path: "/nowhere" }] } }]);
    const failure = await runner.sessions.get("s").catch((error: unknown) => error as AgentError);
    expect(failure).toBeInstanceOf(AgentError);
    expect(String((failure as AgentError).message)).toContain(`ecord ${head + 1}`);
    expect(String(((failure as AgentError).cause as Error).cause)).toContain('remove "/nowhere"');
  });
});
