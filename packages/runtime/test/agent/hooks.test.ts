import type { DurableEvent, HookPayloads, HookPoint, HookResult, JsonValue, LogRecord, SessionId } from "@keelson/protocol";
import { sessionLog, textMessage } from "@keelson/protocol";
import { agentTool, createAgent, createRunner, type AgentEvent, type AgentOptions } from "keelson";
import { createHookRegistry, definePlugin, type HookContext, type HookRegistry } from "keelson/agent";
import { systemClock } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const never = (): Promise<never> => new Promise(() => {});
const call = (name: string, input: JsonValue = {}): ScriptedTurn => ({ toolCalls: [{ name, input }] });
const warnings = (events: readonly AgentEvent[]): readonly string[] =>
  ofType(events, "status").flatMap(({ status, level }) => (level === "warn" ? [status] : []));

interface Told {
  readonly point: HookPoint;
  readonly payload: unknown;
}

/** Hooks at all points but that of events, which only note what they are told. */
function noting(told: Told[], result?: (point: HookPoint) => HookResult | undefined): HookRegistry {
  const note = <P extends HookPoint>(payload: HookPayloads[P], { point }: HookContext<P>): HookResult | undefined => {
    told.push({ point, payload });
    return result?.(point);
  };
  return createHookRegistry()
    .onPreToolUse("*", note)
    .onPostToolUse("*", note)
    .onPostToolUseFailure("*", note)
    .onNotification("*", note)
    .onSubagentStart("*", note)
    .onSubagentStop("*", note)
    .onPreCompact(note)
    .onPostCompact(note)
    .onSessionStart(note)
    .onSessionEnd(note);
}

function tools() {
  const look = recordingTool("look", { effect: "read" });
  const write = recordingTool("write");
  const fail = recordingTool("fail", {
    effect: "read",
    output: () => {
      throw new Error("no such door");
    },
  });
  return { look, write, fail, all: [look, write, fail] };
}

function agentOf(turns: readonly ScriptedTurn[], hooks: HookRegistry, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  const own = tools();
  return { ...own, model, agent: createAgent({ name: "a", model, tools: own.all, hooks, ...options }) };
}

async function recordsOf(log: ReturnType<typeof createMemoryEventLog>, session: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

describe("hooks around tool calls", () => {
  it("see each call before it, and its output after it or its error [HK-02, HK-11]", async () => {
    const told: Told[] = [];
    const { agent } = agentOf(
      [
        {
          toolCalls: [
            { name: "look", input: { at: "door" } },
            { name: "fail", input: { at: "wall" } },
          ],
        },
        "done",
      ],
      noting(told),
    );
    const { outcome } = await watch(runnerOf(agent).run("go", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    expect(told).toEqual([
      { point: "session-start", payload: { sessionId: "s", resumed: false } },
      { point: "pre-tool-use", payload: { toolName: "look", arguments: { at: "door" } } },
      { point: "pre-tool-use", payload: { toolName: "fail", arguments: { at: "wall" } } },
      { point: "post-tool-use", payload: { toolName: "look", arguments: { at: "door" }, output: "look done" } },
      {
        point: "post-tool-use-failure",
        payload: { toolName: "fail", arguments: { at: "wall" }, error: expect.stringContaining("no such door") as string },
      },
      { point: "session-end", payload: { sessionId: "s", reason: "complete" } },
    ]);
  });

  it("see what was really run: arguments that rules changed, and nothing of calls that were refused", async () => {
    const told: Told[] = [];
    const { agent, write } = agentOf(
      [{ toolCalls: [{ name: "look", input: {} }, { name: "write" }, { name: "nothing" }] }, "done"],
      noting(told),
      {
        permissions: { rules: [{ pattern: "write", behavior: "deny" }] },
        rules: [
          {
            name: "pin",
            trigger: { type: "before", operation: "execute-tool" },
            run: ({ input }) => ({ type: "modify-input", input: { ...(input as object), input: { at: "pinned" } } as JsonValue }),
          },
        ],
      },
    );
    await watch(runnerOf(agent).run("go"));
    expect(write.calls).toEqual([]);
    const about = told.filter(({ point }) => point.includes("tool"));
    expect(about).toMatchObject([
      { point: "pre-tool-use", payload: { toolName: "look", arguments: { at: "pinned" } } },
      { point: "post-tool-use", payload: { toolName: "look", arguments: { at: "pinned" } } },
    ]);
  });

  it("refuse a call with abort: it does not run, the model is told why, other calls go on [HK-10]", async () => {
    const hooks = createHookRegistry().onPreToolUse("write", () => ({ type: "abort", reason: "not on Fridays" }), { name: "friday" });
    const { agent, write, look } = agentOf([{ toolCalls: [{ name: "write" }, { name: "look" }] }, "done"], hooks);
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect([write.calls.length, look.calls.length]).toEqual([0, 1]);
    expect(ofType(events, "tool-result")).toMatchObject([
      { name: "write", isError: true, output: 'Refused by the hook "friday": not on Fridays' },
      { name: "look", isError: false },
    ]);
  });

  it("end the run with an abort that says so, and nothing of it runs", async () => {
    const hooks = createHookRegistry().onPreToolUse("write", () => ({ type: "abort", reason: "enough", ends: "run" }));
    const { agent, look } = agentOf([{ toolCalls: [{ name: "look" }, { name: "write" }] }, "never"], hooks);
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "enough" } });
    expect(look.calls).toEqual([]);
  });

  it("only tighten: they can have a person asked about a call that is allowed, and let none through that is denied", async () => {
    const asked: string[] = [];
    const hooks = createHookRegistry()
      .onPreToolUse("look", () => ({ type: "ask", reason: "is it really you?" }), { name: "first" })
      .onPreToolUse("look", () => ({ type: "ask", reason: "and sober?" }), { name: "second" })
      .onPreToolUse("*", () => ({ type: "continue" }));
    const { agent, look, write } = agentOf([{ toolCalls: [{ name: "look" }, { name: "write" }] }, "done"], hooks, {
      permissions: { mode: "bypass-all", rules: [{ pattern: "write", behavior: "deny" }] },
    });
    const { outcome } = await watch(
      runnerOf(agent, {
        approvals: (request) => {
          asked.push(`${request.operation}: ${request.reason}`);
          return { type: "allow" };
        },
      }).run("go"),
    );
    expect(outcome.reason).toBe("complete");
    expect(asked).toEqual(['look: the hook "first, second": is it really you?; and sober?']);
    expect([look.calls.length, write.calls.length]).toEqual([1, 0]);
  });

  it("can't have anybody asked where the mode is deny-unauthorized: the call is refused", async () => {
    const hooks = createHookRegistry().onPreToolUse("look", () => ({ type: "ask", reason: "sure?" }), { name: "careful" });
    const { agent, look } = agentOf([call("look"), "done"], hooks, {
      permissions: { mode: "deny-unauthorized", rules: [{ pattern: "look", behavior: "allow" }] },
    });
    const { events, outcome } = await watch(runnerOf(agent, { approvals: () => expect.unreachable() }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(look.calls).toEqual([]);
    expect(ofType(events, "tool-result")[0]?.output).toMatch(/the hook "careful": sure\?.*deny-unauthorized/);
  });

  it("are asked again about arguments that an approver edited", async () => {
    const seen: JsonValue[] = [];
    const hooks = createHookRegistry().onPreToolUse("write", ({ arguments: given }) => {
      seen.push(given);
      return (given as { readonly to?: string }).to === "eve" ? { type: "abort", reason: "not to her" } : undefined;
    });
    const { agent, write } = agentOf([call("write", { to: "bob" }), "done"], hooks, {
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const { events } = await watch(runnerOf(agent, { approvals: () => ({ type: "allow-modified", input: { to: "eve" } }) }).run("go"));
    expect(seen).toEqual([{ to: "bob" }, { to: "eve" }]);
    expect(write.calls).toEqual([]);
    expect(ofType(events, "tool-result")[0]?.output).toContain("not to her");
  });

  it("tell the model something after the results, which stand as they are", async () => {
    const hooks = createHookRegistry()
      .onPostToolUse("write", () => ({ type: "tell", reason: "line 3 is too long" }), { name: "lint" })
      .onPostToolUseFailure("fail", () => ({ type: "tell", reason: "try the window" }), { name: "hint" });
    const { agent, model } = agentOf([{ toolCalls: [{ name: "write" }, { name: "fail" }] }, "done"], hooks);
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(ofType(events, "tool-result").map(({ output }) => output)).toEqual(["write done", expect.stringContaining("no such door")]);
    const messages = model.requests[1]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "system"]);
    expect(messages.at(-1)?.content[0]).toMatchObject({
      text: expect.stringMatching(
        /^About the result of write \(c_\w+\), from the hook "lint": line 3 is too long\nAbout the result of fail \(c_\w+\), from the hook "hint": try the window$/,
      ) as string,
    });
  });

  it("end the run with abort after a call: what ran is in the log, the rest does not start [HK-10]", async () => {
    const hooks = createHookRegistry().onPostToolUse("write", () => ({ type: "abort", reason: "it wrote a secret" }));
    const { agent, write } = agentOf(
      [
        {
          toolCalls: [
            { name: "write", input: { n: 1 } },
            { name: "write", input: { n: 2 } },
          ],
        },
        "never",
      ],
      hooks,
    );
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "it wrote a secret" } });
    expect(write.calls).toEqual([{ n: 1 }]);
    expect(ofType(events, "tool-result").map(({ isError }) => isError)).toEqual([false, true]);
  });

  it("learn of what a write did, or that it failed, only when that is on disk", async () => {
    const log = createMemoryEventLog();
    const durable: number[] = [];
    const count = async (): Promise<void> =>
      void durable.push((await recordsOf(log, "s")).filter(({ type }) => type === "tool-result").length);
    const hooks = createHookRegistry().onPostToolUse("*", count).onPostToolUseFailure("*", count);
    const { agent } = agentOf([call("write"), call("fail"), "done"], hooks);
    await watch(runnerOf(agent, { log, clock: systemClock }).run("go", { session: "s" }));
    expect(durable).toEqual([1, 2]);
  });
});

describe("the matcher of a hook", () => {
  it("that lists names is about each of them, and about the tool that another coding agent calls by that name [HK-08]", async () => {
    const names: string[] = [];
    const note = (name: string) => (payload: { readonly toolName: string }) => void names.push(`${name}: ${payload.toolName}`);
    const all = ["bash", "edit_file", "read_file", "look"].map((name) => recordingTool(name));
    const hooks = createHookRegistry()
      .onPreToolUse("Bash|Edit|Write", note("list"))
      .onPreToolUse(/^(Edit|Write)$/, note("expression"))
      .onPreToolUse("look|str_replace_editor", note("mixed"))
      .onPreToolUse("r*", note("star"));
    const turn = { toolCalls: all.map(({ name }) => ({ name })) };
    await watch(runnerOf(createAgent({ name: "a", model: scriptedModel([turn, "done"]), tools: all, hooks })).run("go"));
    expect(names.toSorted()).toEqual([
      "expression: edit_file",
      "list: bash",
      "list: edit_file",
      "mixed: edit_file",
      "mixed: look",
      "mixed: read_file",
      "star: read_file",
    ]);
  });

  it("that can match no tool is an error that suggests the right one; a pattern, and a name of a server, is a warning of the run", async () => {
    const { all } = tools();
    const make = (register: (hooks: HookRegistry) => HookRegistry, more: Partial<AgentOptions> = {}) =>
      createAgent({ name: "a", model: scriptedModel(["done"]), tools: all, hooks: register(createHookRegistry()), ...more });
    expect(() => make((hooks) => hooks.onPreToolUse("wrte", () => {}))).toThrow(
      /"wrte", which can match no tool of the agent\. Did you mean "write"/,
    );
    expect(() => make((hooks) => hooks.onPostToolUse("Bash|Glob", () => {}))).toThrow(/"Bash\|Glob".*There are .*look.*write/);
    const warnings = async (agent: ReturnType<typeof make>) => {
      const { events } = await watch(runnerOf(agent).run("go"));
      return ofType(events, "status").flatMap(({ status, level }) => (level === "warn" ? [status] : []));
    };
    for (const pattern of ["mcp__files__read", "writ_*", /wirte/])
      expect(await warnings(make((hooks) => hooks.onPreToolUse(pattern, () => {}))), String(pattern)).toEqual([
        expect.stringMatching(/^hook "pre-tool-use hook" at pre-tool-use: its matcher .* matches no tool that is there now/),
      ]);
    expect(await warnings(make((hooks) => hooks.onPreToolUse("wri*", () => {}).onPreToolUse("*", () => {})))).toEqual([]);
  });

  it("is a pattern with stars, an expression or a function of the tool's name; none, or a star, matches all [HK-08]", async () => {
    const names: string[] = [];
    const note = (name: string) => (payload: { readonly toolName: string }) => void names.push(`${name}: ${payload.toolName}`);
    const hooks = createHookRegistry()
      .onPreToolUse("*", note("star"))
      .onPreToolUse({}, note("none"))
      .onPreToolUse("l*k", note("l*k"))
      .onPreToolUse({ toolNamePattern: "write" }, note("exact"))
      .onPreToolUse("oo*", note("part"))
      .onPreToolUse(/oo|rit/g, note("expression"))
      .onPreToolUse((name) => name.startsWith("w"), note("function"));
    const { agent } = agentOf([{ toolCalls: [{ name: "look" }, { name: "write" }] }, "done"], hooks);
    await watch(runnerOf(agent).run("go"));
    expect(names).toEqual([
      "star: look",
      "none: look",
      "l*k: look",
      "expression: look",
      "star: write",
      "none: write",
      "exact: write",
      "expression: write",
      "function: write",
    ]);
  });
});

describe("a hook that takes too long", () => {
  it("is skipped after 30 seconds, with a warning, and counts as continue [HK-01, HK-09]", async () => {
    const clock = impatientClock();
    let signal: AbortSignal | undefined;
    const hooks = createHookRegistry().onPreToolUse(
      "*",
      (_payload, context) => {
        signal = context.signal;
        return never();
      },
      { name: "slow" },
    );
    const { agent, look } = agentOf([call("look"), "done"], hooks);
    const { outcome, events } = await watch(runnerOf(agent, { clock }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(look.calls).toHaveLength(1);
    expect(clock.waits).toEqual([30_000]);
    expect(warnings(events)).toEqual(['hook "slow" at pre-tool-use was skipped: it took longer than 30000 ms']);
    expect(signal?.aborted).toBe(true);
  });

  it("is given the time of its registration, else of its matcher, each time anew [HK-09]", async () => {
    const clock = impatientClock();
    const hooks = createHookRegistry()
      .onPreToolUse({ timeoutMs: 1000 }, never)
      .onPreToolUse({ timeoutMs: 1000 }, never, { timeoutMs: 500 })
      .onSessionEnd(never, { timeoutMs: 70 });
    const { agent } = agentOf([call("look"), call("write"), "done"], hooks);
    const { outcome } = await watch(runnerOf(agent, { clock }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(clock.waits).toEqual([1000, 500, 1000, 500, 70]);
  });

  it("refuses when it is a guard, and so does a guard that throws or returns nonsense [HK-01]", async () => {
    for (const [hook, why] of [
      [never, /gave no result: it took longer than 30000 ms/],
      [() => Promise.reject(new Error("no database")), /failed: no database/],
      [
        () => {
          throw new Error("no database");
        },
        /failed: no database/,
      ],
      [() => ({ type: "deny" }) as never, /failed: it returned \{"type":"deny"\}: return nothing, or a type of continue, abort, ask/],
    ] as const) {
      const { agent, look } = agentOf([call("look"), "done"], createHookRegistry().onPreToolUse("*", hook, { name: "door", guard: true }));
      const { outcome, events } = await watch(runnerOf(agent).run("go"));
      expect(outcome.reason).toBe("complete");
      expect(look.calls).toEqual([]);
      expect(ofType(events, "tool-result")[0]).toMatchObject({ isError: true, output: expect.stringMatching(why) as string });
      expect(warnings(events)).toEqual([expect.stringMatching(why)]);
    }
  });

  it("does not hold up a run that is aborted", async () => {
    const hooks = createHookRegistry().onPreToolUse("*", () => {
      setImmediate(() => void run.abort());
      return never();
    });
    const { agent, look } = agentOf([call("look"), "never"], hooks);
    const run = runnerOf(agent, { clock: { ...impatientClock(), after: () => () => {} } }).run("go");
    expect((await run.outcome).reason).toBe("aborted");
    expect(look.calls).toEqual([]);
  });
});

describe("a hook that throws", () => {
  it("ends the run as a panic where it could have had a say [HK-10]", async () => {
    const throwing = (): never => {
      throw new Error("broken hook");
    };
    const wrong = (): never => "stop" as never;
    for (const hooks of [
      createHookRegistry().onPreToolUse("*", throwing, { name: "bad" }),
      createHookRegistry().onPreToolUse("*", wrong, { name: "bad" }),
      createHookRegistry().onPostToolUse("*", throwing, { name: "bad" }),
      createHookRegistry().onSessionStart(throwing, { name: "bad" }),
    ]) {
      const { agent } = agentOf([call("look"), "never"], hooks);
      const { outcome } = await watch(runnerOf(agent).run("go"));
      expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "hook bad" });
    }
  });

  it("or wants to abort is a warning where all is over", async () => {
    const hooks = createHookRegistry()
      .onSessionEnd(
        () => {
          throw new Error("broken hook");
        },
        { name: "bad" },
      )
      .onSessionEnd(() => ({ type: "abort", reason: "no" }), { name: "late" });
    const { outcome, events } = await watch(runnerOf(agentOf(["done"], hooks).agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(warnings(events)).toEqual([
      'hook "bad" at session-end failed: broken hook',
      'hook "late" at session-end can\'t abort what is over: no',
    ]);
  });
});

describe("what hooks are given", () => {
  it("is frozen in depth, and nothing of it is the run's own: they rewrite nothing [HK-12]", async () => {
    const given = { at: { side: "north" }, list: [{ n: 1 }] };
    const errors: string[] = [];
    const attempt = (change: () => void): void => {
      try {
        change();
      } catch (error) {
        errors.push((error as Error).name);
      }
    };
    const hooks = createHookRegistry()
      .onPreToolUse("*", (payload) => {
        const input = payload.arguments as { at: { side: string }; list: { n: number }[] };
        attempt(() => (input.at.side = "south"));
        attempt(() => input.list.push({ n: 2 }));
        attempt(() => Object.assign(payload, { arguments: {} }));
      })
      .onPostToolUse("*", (payload) => {
        attempt(() => Object.assign(payload.output as object, { seen: false }));
      });
    const model = scriptedModel([call("look", given), "done"]);
    const look = recordingTool("look", {
      effect: "read",
      output: (input) => {
        // A tool may do with its input what it likes.
        (input as { at: { side: string } }).at.side += "!";
        return { seen: true };
      },
    });
    const { outcome, events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [look], hooks })).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(errors).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
    expect(look.calls).toMatchObject([{ at: { side: "north!" }, list: [{ n: 1 }] }]);
    expect(ofType(events, "tool-result")[0]?.output).toEqual({ seen: true });
  });

  it("says which run, session, agent and call it is about", async () => {
    const contexts: HookContext[] = [];
    const hooks = createHookRegistry().onPreToolUse("*", (_payload, context) => void contexts.push(context));
    const { agent } = agentOf([call("look"), "done"], hooks, { cwd: "/tmp/x" });
    const run = runnerOf(agent).run("go", { session: "s", metadata: { user: "ada" } });
    const { events } = await watch(run);
    expect(contexts[0]).toMatchObject({
      point: "pre-tool-use",
      session: "s",
      runId: run.id,
      agent: "a",
      cwd: "/tmp/x",
      metadata: { user: "ada" },
      callId: ofType(events, "tool-result")[0]?.callId,
      guard: false,
      replayed: false,
    });
  });
});

describe("hooks at the borders of a run", () => {
  it("stand before the first turn and behind the result; an abort ends the run before the model is asked [HK-06, HK-10]", async () => {
    const told: Told[] = [];
    const { agent, model } = agentOf(
      ["never"],
      noting(told, (point) => (point === "session-start" ? { type: "abort", reason: "closed" } : undefined)),
    );
    const { outcome, events } = await watch(runnerOf(agent).run("go", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "closed" }, turns: 0 });
    expect(model.requests).toEqual([]);
    expect(told).toEqual([
      { point: "session-start", payload: { sessionId: "s", resumed: false } },
      { point: "session-end", payload: { sessionId: "s", reason: "halted" } },
    ]);
    expect(types(events).slice(-2)).toEqual(["run-result", "run-complete"]);
  });

  it("are told of every way a run ends, with the result in the log by then [HK-06]", async () => {
    const log = createMemoryEventLog();
    const ends: string[] = [];
    const hooks = (): HookRegistry =>
      createHookRegistry().onSessionEnd(async ({ sessionId, reason }) => {
        const last = (await recordsOf(log, sessionId)).map(({ type }) => type);
        ends.push(`${reason} ${last.includes("run-ending")} ${last.includes("run-complete") || last.includes("error")}`);
      });
    const services = { log, clock: systemClock };
    await watch(runnerOf(agentOf(["done"], hooks()).agent, services).run("go", { session: "a" }));
    await watch(
      runnerOf(agentOf([{ error: { kind: "authentication", message: "no" } }], hooks()).agent, services).run("go", { session: "b" }),
    );
    await watch(
      runnerOf(agentOf([call("look"), call("look")], hooks(), { limits: { maxTurns: 1 } }).agent, services).run("go", { session: "c" }),
    );
    const aborted = runnerOf(agentOf([{ wait: never() } as never], hooks()).agent, services).run("go", { session: "d" });
    for await (const event of aborted) if (event.type === "turn-start") await aborted.abort();
    await aborted.outcome;
    expect(ends).toEqual(["complete true false", "error true false", "max-turns true false", "aborted true false"]);
  });

  it("say that a session is gone on with: by another run, and by one that waited or was interrupted [HK-06]", async () => {
    const told: Told[] = [];
    const services = sharedServices();
    const { agent } = agentOf(["one", call("write"), "two", call("look"), "three"], noting(told), {
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const runner = runnerOf(agent, services);
    const starts = (): readonly unknown[] =>
      told
        .splice(0)
        .flatMap(({ point, payload }) => (point === "session-start" ? [(payload as HookPayloads["session-start"]).resumed] : []));
    await runner.run("go", { session: "s" }).outcome;
    expect(starts()).toEqual([false]);
    const waiting = await runner.run("more", { session: "s" }).outcome;
    expect(waiting.reason).toBe("awaiting-approval");
    expect(starts()).toEqual([true]);
    await runner.approve((waiting.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(starts()).toEqual([true]);
  });

  it("can refuse that a run is taken up again: it ends", async () => {
    const services = sharedServices();
    const hooks = createHookRegistry().onSessionStart(({ resumed }) => (resumed ? { type: "abort", reason: "too late" } : undefined));
    const { agent, write } = agentOf([call("write"), "never"], hooks, { permissions: { rules: [{ pattern: "write", behavior: "ask" }] } });
    const runner = runnerOf(agent, services);
    const waiting = await runner.run("go", { session: "s" }).outcome;
    await runner.approve((waiting.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    const { outcome, events } = await watch(await runner.resume("s"));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "too late" } });
    expect(write.calls).toEqual([]);
    expect(ofType(events, "tool-result")).toHaveLength(1);
  });

  it("are told of a run whose process ended when somebody takes it up; not where an engine works it turn by turn [HK-06]", async () => {
    for (const byTurns of [false, true]) {
      const told: Told[] = [];
      const clock = impatientClock();
      const log = createMemoryEventLog({ now: () => clock.now() });
      const services = { clock, blobs: createMemoryBlobStore() };
      const { agent } = agentOf([call("look"), call("look"), "done"], noting(told));
      // Its process ends, for all that others can see, when the run has begun.
      const died = Promise.withResolvers<void>();
      const dying = runnerOf(agent, {
        ...services,
        log: {
          ...log,
          async append(id, expected, records, options) {
            if ((await log.head(id)) === 0) return log.append(id, expected, records, options);
            died.resolve();
            return never();
          },
        },
        owner: "gone",
        leaseTtlMs: 1,
      });
      void dying.run("go", { session: "s" });
      await died.promise;
      clock.advance(10);
      told.length = 0;
      const runner = runnerOf(agent, { ...services, log });
      if (byTurns) {
        const nexts: string[] = [];
        while (nexts.at(-1) !== "done") nexts.push((await runner.advance("s")).next.type);
        expect(nexts).toEqual(["now", "done"]);
      } else expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
      expect(told.filter(({ point }) => point.startsWith("session"))).toEqual([
        ...(byTurns ? [] : [{ point: "session-start", payload: { sessionId: "s", resumed: true } }]),
        { point: "session-end", payload: { sessionId: "s", reason: "complete" } },
      ]);
    }
  });
});

describe("hooks around child agents", () => {
  const lead = (hooks: HookRegistry, helper = createAgent({ name: "helper", model: scriptedModel(["found it"]) })) => {
    const model = scriptedModel([call("helper", { task: "look into it" }), "done"]);
    return { model, agent: createAgent({ name: "lead", model, tools: [agentTool(helper)], hooks }) };
  };

  it("are told that one starts, with its task, and how it stopped [HK-04]", async () => {
    const told: Told[] = [];
    await watch(runnerOf(lead(noting(told)).agent).run("go"));
    expect(told.filter(({ point }) => point.startsWith("subagent"))).toEqual([
      { point: "subagent-start", payload: { agentName: "helper", initialMessage: "look into it" } },
      { point: "subagent-stop", payload: { agentName: "helper", reason: "complete" } },
    ]);
  });

  it("are matched with the child's name, and can refuse it: it never starts, the model is told [HK-04, HK-10]", async () => {
    const asked: string[] = [];
    const hooks = createHookRegistry()
      .onSubagentStart("other", () => expect.unreachable())
      .onSubagentStart("help*", ({ agentName }) => (asked.push(agentName), { type: "abort", reason: "no help today" }), { name: "alone" })
      .onSubagentStop("*", () => expect.unreachable());
    const helper = createAgent({ name: "helper", model: scriptedModel([]) });
    const { outcome, events } = await watch(runnerOf(lead(hooks, helper).agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(asked).toEqual(["helper"]);
    expect(ofType(events, "child-start")).toEqual([]);
    expect(ofType(events, "tool-result")[0]).toMatchObject({
      isError: true,
      output: 'The agent "helper" was not started. Refused by the hook "alone": no help today',
    });
  });

  it("can end the run before a child starts, by an abort that says so or by a throw, whether a call or a directive wants it [HK-10]", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel([]) });
    const spawning = definePlugin({
      key: "spawning",
      initialState: {},
      beforeRun: () => [{ type: "spawn-agent", name: "helper", config: { task: "look into it" } }],
    });
    for (const starts of ["call", "directive"] as const) {
      for (const ends of ["abort", "throw"] as const) {
        const hooks = createHookRegistry().onSubagentStart("*", () => {
          if (ends === "throw") throw new Error("no idea");
          return { type: "abort", reason: "enough", ends: "run" };
        });
        const options: Partial<AgentOptions> = { tools: [agentTool(helper)], ...(starts === "directive" && { plugins: [spawning] }) };
        const turns = starts === "call" ? [call("helper", { task: "look into it" })] : [];
        const { agent } = agentOf(turns, hooks, options);
        const { outcome, events } = await watch(runnerOf(agent).run("go"));
        expect(ofType(events, "child-start")).toEqual([]);
        if (ends === "abort") expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "enough" } });
        else expect(outcome.error?.failure).toMatchObject({ kind: "panic" });
        if (starts === "call")
          expect(ofType(events, "tool-result")).toMatchObject([
            { isError: true, output: expect.stringMatching(/^Not started: /) as string },
          ]);
      }
    }
  });

  it("are told once of a child that waited in between, when it has stopped", async () => {
    const told: Told[] = [];
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([call("write"), "wrote"]),
      tools: [recordingTool("write")],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const runner = runnerOf(lead(noting(told), helper).agent, sharedServices());
    const waiting = await runner.run("go", { session: "s" }).outcome;
    await runner.approve((waiting.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(told.filter(({ point }) => point.startsWith("subagent"))).toMatchObject([
      { point: "subagent-start" },
      { point: "subagent-stop", payload: { reason: "complete" } },
    ]);
  });
});

describe("hooks around compaction", () => {
  const overflow: ScriptedTurn = { error: { kind: "context-overflow", message: "too many tokens" } };
  const compacting = (turns: readonly ScriptedTurn[], hooks: HookRegistry) => {
    let compactions = 0;
    const made = agentOf(turns, hooks, {
      compact: async () => (compactions++, { messages: [textMessage("user", "short")], summary: "s" }),
    });
    return { ...made, count: () => compactions };
  };

  it("are told how long the conversation is, before and after [HK-05, HK-11]", async () => {
    const told: Told[] = [];
    const { agent } = compacting([call("look"), overflow, "done"], noting(told));
    await watch(runnerOf(agent).run("go"));
    const [before, after] = told.filter(({ point }) => point.endsWith("compact")) as readonly {
      readonly point: string;
      readonly payload: HookPayloads["pre-compact"];
    }[];
    expect(before).toMatchObject({ point: "pre-compact", payload: { messageCount: 3 } });
    expect(after).toMatchObject({ point: "post-compact", payload: { messageCount: 1 } });
    expect(after?.payload.tokenCount).toBeLessThan(before?.payload.tokenCount ?? 0);
  });

  it("are told once, also where the turn is gone on with after a wait [HK-05]", async () => {
    const told: Told[] = [];
    const { agent } = agentOf([overflow, call("write"), "done"], noting(told), {
      compact: async () => ({ messages: [textMessage("user", "short")], summary: "s" }),
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
    });
    const runner = runnerOf(agent, sharedServices());
    const waiting = await runner.run("go", { session: "s" }).outcome;
    await runner.approve((waiting.waits?.[0] as { readonly token: string }).token, { type: "allow" });
    expect((await (await runner.resume("s")).outcome).reason).toBe("complete");
    expect(told.map(({ point }) => point)).toEqual([
      "session-start",
      "pre-compact",
      "post-compact",
      "pre-tool-use",
      "notification",
      "session-start",
      "post-tool-use",
      "session-end",
    ]);
  });

  it("can refuse it: the conversation stays, and the model is not asked for the same again [HK-05, HK-10]", async () => {
    const { agent, model, count } = compacting(
      [overflow, "never"],
      createHookRegistry().onPreCompact(() => ({ type: "abort", reason: "keep it" }), { name: "keeper" }),
    );
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "context-overflow" } });
    expect([count(), model.requests.length]).toEqual([0, 1]);
    expect(warnings(events)).toEqual(['the conversation was not compacted. Refused by the hook "keeper": keep it']);
  });
});

describe("notifications", () => {
  it("are warnings of the runtime, and questions to people with the tool they are about [HK-03]", async () => {
    const all: unknown[] = [];
    const aboutWrite: string[] = [];
    const hooks = createHookRegistry()
      .onPreToolUse("look", never, { name: "slow" })
      .onNotification("*", (payload, { callId }) => void all.push([payload.level, payload.message, callId !== undefined]))
      .onNotification("write", ({ message }) => void aboutWrite.push(message));
    const { agent } = agentOf([{ toolCalls: [{ name: "look" }, { name: "write" }] }, "done"], hooks, {
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
      debug: true,
    });
    await watch(runnerOf(agent, { approvals: () => ({ type: "allow" }) }).run("go"));
    expect(all).toEqual([
      ["warn", 'hook "slow" at pre-tool-use was skipped: it took longer than 30000 ms', false],
      ["info", expect.stringMatching(/^write needs an approval: /), true],
    ]);
    expect(aboutWrite).toEqual([expect.stringMatching(/^write needs an approval/)]);
  });

  it("are told before a run that waits lets go, and a hook that fails on one notifies nobody", async () => {
    const told: string[] = [];
    const hooks = createHookRegistry().onNotification(
      "*",
      async ({ message }) => {
        await Promise.resolve();
        told.push(message);
        throw new Error("no pager");
      },
      { name: "pager" },
    );
    const { agent } = agentOf([call("write")], hooks, { permissions: { rules: [{ pattern: "write", behavior: "ask" }] } });
    const { outcome, events } = await watch(runnerOf(agent, { clock: systemClock }).run("go"));
    expect(outcome.reason).toBe("awaiting-approval");
    expect(told).toHaveLength(1);
    expect(warnings(events)).toEqual(['hook "pager" at notification failed: no pager']);
  });

  it("in a flood are dropped beyond sixteen that wait, with a warning", async () => {
    const told: string[] = [];
    const hooks = createHookRegistry()
      .onSessionStart(
        (_payload, { warn }) => {
          for (let n = 1; n <= 20; n++) warn(`w${n}`);
        },
        { name: "flood" },
      )
      .onNotification("*", ({ message }) => void told.push(message));
    const { events } = await watch(runnerOf(agentOf(["done"], hooks).agent).run("go"));
    expect(told.map((message) => message.replace(/.*: /, ""))).toEqual(Array.from({ length: 16 }, (_, index) => `w${index + 1}`));
    expect(warnings(events).filter((status) => status.includes("was dropped"))).toHaveLength(4);
  });
});

describe("beforeTurn and afterTurn", () => {
  const kinds = (events: readonly AgentEvent[]): readonly DurableEvent["type"][] => types(events) as never;

  it("are called around each turn and told which it is [AG-26, AG-27]", async () => {
    const calls: unknown[] = [];
    const { agent } = agentOf([call("look"), "done"], createHookRegistry(), {
      beforeTurn: async ({ turn, model, metadata }) => void calls.push(["before", turn, model, metadata]),
      afterTurn: async ({ turn, cumulativeCost }, end) => void calls.push(["after", turn, cumulativeCost, end]),
    });
    await watch(runnerOf(agent).run("go", { metadata: { user: "ada" } }));
    expect(calls).toEqual([
      ["before", 1, "scripted/model", { user: "ada" }],
      ["after", 1, "0", { type: "ok" }],
      ["before", 2, "scripted/model", { user: "ada" }],
      ["after", 2, "0", { type: "ok" }],
    ]);
  });

  it("the one after it is told of failures too, once: a failed model, a halt, a limit, a panic [AG-27]", async () => {
    const ends: unknown[] = [];
    const afterTurn: AgentOptions["afterTurn"] = (_context, end) => void ends.push(end);
    const run = async (turns: readonly ScriptedTurn[], options: Partial<AgentOptions>, hooks = createHookRegistry()): Promise<void> => {
      await watch(runnerOf(agentOf(turns, hooks, { afterTurn, ...options }).agent).run("go"));
    };
    await run([{ error: { kind: "authentication", message: "no" } }], {});
    await run(
      [call("look")],
      {},
      createHookRegistry().onPostToolUse("*", () => ({ type: "abort", reason: "x" })),
    );
    await run([{ text: "cut", stopReason: "max-tokens" } as ScriptedTurn], {});
    await run(["never"], {
      beforeTurn: () => {
        throw new Error("broken");
      },
    });
    expect(ends).toMatchObject([
      { type: "failed", reason: "error", failure: { kind: "model" } },
      { type: "failed", reason: "halted" },
      { type: "failed", reason: "max-output" },
      { type: "failed", reason: "error", failure: { kind: "panic" } },
    ]);
  });

  it("the one before it may end the run; the one after it only looks on [AG-26, AG-27]", async () => {
    const { agent, model } = agentOf([call("look"), "never"], createHookRegistry(), {
      beforeTurn: ({ turn }) => (turn === 2 ? { type: "abort", reason: "one is enough" } : { type: "continue" }),
      afterTurn: () => {
        throw new Error("broken");
      },
    });
    const { outcome, events } = await watch(runnerOf(agent).run("go"));
    expect(outcome).toMatchObject({ reason: "halted", halted: { by: "hook", reason: "one is enough" } });
    expect(model.requests).toHaveLength(1);
    expect(warnings(events)).toEqual(["afterTurn failed: broken", "afterTurn failed: broken"]);
    expect(kinds(events).filter((type) => type === "turn-end")).toHaveLength(2);
    const panicking = agentOf(["never"], createHookRegistry(), { beforeTurn: () => "stop" as never });
    const { outcome: panicked } = await watch(runnerOf(panicking.agent).run("go"));
    expect(panicked.error?.failure).toMatchObject({ kind: "panic", message: expect.stringContaining("beforeTurn must return") as string });
  });
});

describe("the variables of an agent", () => {
  it("reach the programs that its tools start and its instructions, and never the log [AG-22]", async () => {
    const log = createMemoryEventLog();
    const requests: unknown[] = [];
    const started = recordingTool("start", { effect: "read" });
    const tool = Object.assign(Object.create(started) as typeof started, {
      execute: async (_input: unknown, { exec }: Parameters<typeof started.execute>[1]) => {
        await exec?.execute({ command: "one" });
        await exec?.execute({ command: "two", env: { REGION: "own", MORE: "yes" } });
        return "ok";
      },
    });
    let told: unknown;
    const agent = createAgent({
      name: "a",
      model: scriptedModel([call("start"), "done"]),
      tools: [tool],
      env: { REGION: "north", KEY: "hunter2" },
      instructions: ({ env }) => ((told = env), `Work in ${env?.["REGION"]}.`),
    });
    const exec = { execute: async (request: unknown) => (requests.push(request), { exitCode: 0 } as never) };
    const { outcome } = await watch(runnerOf(agent, { exec, log }).run("go", { session: "s" }));
    expect(outcome.reason).toBe("complete");
    expect(requests).toEqual([
      { command: "one", env: { REGION: "north", KEY: "hunter2" } },
      { command: "two", env: { REGION: "own", KEY: "hunter2", MORE: "yes" } },
    ]);
    expect(told).toEqual({ REGION: "north", KEY: "hunter2" });
    expect(JSON.stringify(await recordsOf(log, "s"))).not.toContain("hunter2");
    expect(agent.with({ env: { REGION: "south", KEY: "other" } }).digest).toBe(agent.digest);
    expect(agent.with({ env: { REGION: "south" } }).digest).not.toBe(agent.digest);
  });

  it("must be names and texts that a program can be given [AG-22]", () => {
    for (const [env, option] of [
      [{ "": "x" }, "env"],
      [{ "A=B": "x" }, "env"],
      [{ A: 1 }, "env.A"],
      [{ A: "x\0y" }, "env.A"],
      ["A=B", "env"],
    ] as const)
      expect(() => createAgent({ name: "a", model: scriptedModel([]), env: env as never })).toThrowError(
        expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) as unknown }) as Error,
      );
  });
});

describe("the hooks of a definition", () => {
  const model = scriptedModel([]);
  const refused = (option: string): Error =>
    expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) as unknown }) as Error;

  it("are part of its digest as data, and can be changed in a copy [AG-13]", () => {
    const hook = (): void => {};
    const plain = createAgent({ name: "a", model });
    const digests = [
      createHookRegistry().onPreToolUse("x", hook),
      createHookRegistry().onPreToolUse("y", hook),
      createHookRegistry().onPreToolUse("x", hook, { guard: true }),
      createHookRegistry().onPreToolUse("x", hook, { timeoutMs: 1 }),
      createHookRegistry().onPreToolUse("x", hook, { name: "other" }),
      createHookRegistry().onPostToolUse("x", hook),
    ].map((hooks) => plain.with({ hooks }).digest);
    expect(new Set([plain.digest, ...digests]).size).toBe(7);
    expect(plain.with({ hooks: createHookRegistry().onPreToolUse("x", hook) }).digest).toBe(digests[0]);
  });

  it("are listed, and closed once an agent has them [AG-13]", () => {
    const hooks = createHookRegistry()
      .onPreToolUse("x", function check() {}, { guard: true })
      .onSessionEnd(() => {}, { timeoutMs: 5 });
    expect(hooks.hooks).toEqual([
      { point: "pre-tool-use", name: "check", pattern: "x", timeoutMs: 30_000, guard: true },
      { point: "session-end", name: "session-end hook", timeoutMs: 5, guard: false },
    ]);
    createAgent({ name: "a", model, hooks });
    expect(() => hooks.onPreCompact(() => {})).toThrowError(refused("hooks"));
  });

  it("are refused when they can't work, by an error that names the option [AG-13]", () => {
    expect(() => createAgent({ name: "a", model, hooks: {} as never })).toThrowError(refused("hooks"));
    expect(() => createAgent({ name: "a", model, beforeTurn: "x" as never })).toThrowError(refused("beforeTurn"));
    expect(() => createAgent({ name: "a", model, afterTurn: "x" as never })).toThrowError(refused("afterTurn"));
    const registry = createHookRegistry();
    expect(() => registry.onPreToolUse("*", "x" as never)).toThrowError(refused('hooks["pre-tool-use"]'));
    expect(() => registry.onPreToolUse("", () => {})).toThrowError(refused('hooks["pre-tool-use"].matcher'));
    expect(() => registry.onPreToolUse("*", () => {}, { timeoutMs: 0 })).toThrowError(refused('hooks["pre-tool-use"].timeoutMs'));
    expect(() => registry.onSessionEnd(() => {}, { guard: true } as never)).toThrowError(refused('hooks["session-end"].guard'));
    expect(() => registry.onEvent("*", () => {}, { guard: true } as never)).toThrowError(refused('hooks["event"].guard'));
    expect(() => registry.onEvent("", () => {})).toThrowError(refused('hooks["event"].matcher'));
  });

  it("cost a run without any of them nothing: neither a record nor an append", async () => {
    const appends: (readonly string[])[] = [];
    const recorded = async (options: Partial<AgentOptions>): Promise<readonly (readonly string[])[]> => {
      appends.length = 0;
      const log = createMemoryEventLog();
      const counting = {
        ...log,
        append: (...args: Parameters<typeof log.append>) => (appends.push(args[2].map(({ type }) => type)), log.append(...args)),
      };
      const own = tools();
      const agent = createAgent({ name: "a", model: scriptedModel([call("look"), call("write"), "done"]), tools: own.all, ...options });
      await createRunner({ agent, log: counting, clock: impatientClock() }).run("go").outcome;
      return [...appends];
    };
    const plain = await recorded({});
    expect(await recorded({ hooks: createHookRegistry() })).toEqual(plain);
    const unmatched = createHookRegistry()
      .onPreToolUse("other_*", () => {})
      .onPostToolUse("other_*", () => {});
    expect(await recorded({ hooks: unmatched })).toEqual(plain);
    const watched = await recorded({ hooks: createHookRegistry().onPreToolUse("*", () => {}) });
    expect([watched.length, watched.flat().length]).toEqual([plain.length, plain.flat().length + 2]);
  });
});
