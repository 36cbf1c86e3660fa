import { createAgent, createRunner, type AgentOptions } from "keelson";
import { closureGuard, directStrategy, fsmStrategy, type FsmStrategyBuilder } from "keelson/agent";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, inboxLog, sessionLog, type EventLog, type JsonValue, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, runnerOf, watch } from "./support.ts";

const call = (name: string, input: JsonValue = {}): { readonly name: string; readonly input: JsonValue } => ({ name, input });
const calls = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name) => call(name)) });

/** A support desk: verify, then refund; notes at any time while a case is open. */
function desk(): FsmStrategyBuilder {
  return fsmStrategy()
    .initial("triage")
    .state("triage", { tools: ["search"] })
    .tools("help")
    .transition("triage", "verify", "verified")
    .transition("triage", "note", "triage")
    .transitionWithGuard(
      "verified",
      "refund",
      "done",
      closureGuard("at most 50", (input) => Number((input as { amount?: number }).amount ?? 0) <= 50),
      1,
    )
    .transition("verified", "note", "verified");
}

function tools() {
  return {
    verify: recordingTool("verify", { effect: "read" }),
    refund: recordingTool("refund", { effect: "write" }),
    note: recordingTool("note", { effect: "read" }),
    search: recordingTool("search", { effect: "read" }),
    help: recordingTool("help", { effect: "read" }),
  };
}

function set(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  const all = tools();
  const agent = createAgent({ name: "desk", model, tools: Object.values(all), strategy: desk().build(), ...options });
  return { model, agent, tools: all };
}

/** What the model was told it may call, request by request. */
function told(model: ScriptedModel): readonly (readonly string[])[] {
  return model.requests.map(({ tools: schemas = [] }) => schemas.map(({ name }) => name));
}

/** The results of all calls, as name and output. */
async function results(run: ReturnType<ReturnType<typeof runnerOf>["run"]>): Promise<readonly (readonly [string, JsonValue, boolean])[]> {
  const { events } = await watch(run);
  return ofType(events, "tool-result").map(({ name, output, isError }) => [name, output, isError] as const);
}

describe("an agent with a state machine", () => {
  it("is told of the tools of its state, and moves when the call of an action has succeeded [FS-03, FS-04]", async () => {
    const { model, agent, tools: all } = set([calls("search"), calls("verify"), { toolCalls: [call("refund", { amount: 5 })] }, "ok"]);
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(told(model)).toEqual([
      ["help", "note", "search", "verify"],
      ["help", "note", "search", "verify"],
      ["help", "note", "refund"],
      ["help"],
    ]);
    expect(all.refund.calls).toEqual([{ amount: 5 }]);
  });

  it("is refused what its state does not have, and told what is possible, so that it can act on it [FS-03, ET-13]", async () => {
    const { agent, tools: all } = set([calls("refund"), calls("nothing"), "ok"]);
    const [refused, unknown] = await results(runnerOf(agent).run("go"));
    expect(refused).toEqual([
      "refund",
      `"refund" is not possible in the state "triage". Possible there: "verify", "note". Tools that are there now: help, note, search, verify.`,
      true,
    ]);
    expect(unknown?.[1]).toContain("Available tools: help, note, search, verify.");
    expect(all.refund.calls).toEqual([]);
  });

  it("is told which guard refused its arguments, and may try others [FS-02, FS-07, ET-14]", async () => {
    const { agent, tools: all } = set([
      calls("verify"),
      { toolCalls: [call("refund", { amount: 80 })] },
      { toolCalls: [call("refund", { amount: 50 })] },
      "ok",
    ]);
    const [, refused, accepted] = await results(runnerOf(agent).run("go"));
    expect(refused?.[1]).toContain(`"refund" was refused in the state "verified" for this input, by the guard "at most 50".`);
    expect(refused?.[2]).toBe(true);
    expect(accepted).toEqual(["refund", "refund done", false]);
    expect(all.refund.calls).toEqual([{ amount: 50 }]);
  });

  it("stays where it is when the action failed, was denied, or was refused", async () => {
    const verify = recordingTool("verify", {
      effect: "read",
      output: () => {
        throw new Error("no such person");
      },
    });
    const { refund, note, search, help } = tools();
    const failing = set([calls("verify"), "ok"], { tools: [verify, refund, note, search, help] });
    await runnerOf(failing.agent).run("go").outcome;
    expect(told(failing.model)[1]).toContain("verify");
    const denied = set([calls("verify"), "ok"], { permissions: { rules: [{ pattern: "verify", behavior: "deny" }] } });
    await runnerOf(denied.agent).run("go").outcome;
    expect(told(denied.model)[1]).toContain("search");
  });

  it("has the calls of one response judged in the state in which they were asked for, and once more as each starts", async () => {
    // `refund` was not there when the model asked; `search` is gone once `verify` is done, `note` is not.
    const { agent, tools: all } = set([calls("search", "verify", "refund", "search", "note"), "ok"]);
    const found = await results(runnerOf(agent).run("go"));
    expect(found.map(([name, , isError]) => [name, isError])).toEqual([
      ["search", false],
      ["verify", false],
      ["refund", true],
      ["search", true],
      ["note", false],
    ]);
    expect(found[2]?.[1]).toContain(`in the state "triage"`);
    expect(found[3]?.[1]).toContain(`in the state "verified"`);
    expect(all.search.calls).toHaveLength(1);
  });

  it("never runs two calls side by side of which one moves the machine", async () => {
    const running = new Set<string>();
    const together: string[] = [];
    const tracked = (name: string) => ({
      ...recordingTool(name, { effect: "read" }),
      async execute() {
        running.add(name);
        if (running.size > 1) together.push([...running].join("+"));
        await new Promise<void>((resolve) => setImmediate(resolve));
        running.delete(name);
        return "done";
      },
    });
    const strategy = fsmStrategy()
      .initial("a")
      .state("a", { tools: ["look", "see"] })
      .transition("a", "left", "b")
      .transition("a", "right", "c")
      .build();
    const { agent } = set([calls("look", "see", "left", "right"), "ok"], {
      strategy,
      tools: ["look", "see", "left", "right"].map(tracked),
    });
    const found = await results(runnerOf(agent).run("go"));
    expect(together).toEqual(["look+see"]);
    expect(found.map(([name, , isError]) => [name, isError]).at(-1)).toEqual(["right", true]);
  });

  it("has the arguments that a person edited judged by the guards again", async () => {
    const { agent, tools: all } = set([calls("verify"), { toolCalls: [call("refund", { amount: 10 })] }, "ok"], {
      permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
    });
    const runner = runnerOf(agent, { approvals: async () => ({ type: "allow-modified", input: { amount: 60 } }) });
    const found = await results(runner.run("go"));
    expect(found.at(-1)?.[1]).toContain("at most 50");
    expect(all.refund.calls).toEqual([]);
  });

  it("moves by the result that a rule gives in the place of an action's tool", async () => {
    const {
      model,
      agent,
      tools: all,
    } = set([calls("verify"), "ok"], {
      rules: [
        {
          name: "known",
          trigger: { type: "before", operation: "execute-tool" },
          run: () => ({ type: "skip", output: "known already" }),
        },
      ],
    });
    await runnerOf(agent).run("go").outcome;
    expect(all.verify.calls).toEqual([]);
    expect(told(model)[1]).toContain("refund");
  });

  it("takes actions that are no tools with a tool that is there where they are, with no list of tools in its way", async () => {
    const strategy = fsmStrategy()
      .initial("open")
      .state("open", { tools: ["search"] })
      .state("closed", { tools: ["help"] })
      .transition("open", "close", "closed")
      .transitionWithGuard(
        "closed",
        "reopen",
        "open",
        closureGuard("with a reason", (input) => typeof input === "string"),
        0,
      )
      .offer("close", "The case is settled.")
      .offer("reopen")
      .build();
    const { model, agent } = set(
      [
        { toolCalls: [call("transition", { action: "reopen" })] },
        { toolCalls: [call("transition", { action: "vanish" })] },
        { toolCalls: [call("transition", { action: "close" }), call("search")] },
        { toolCalls: [call("transition", { action: "reopen" })] },
        { toolCalls: [call("transition", { action: "reopen", input: "she called again" })] },
        "ok",
      ],
      { strategy, allowedTools: ["search", "help"] },
    );
    const found = await results(runnerOf(agent).run("go"));
    expect(told(model).map((names) => names.join(" "))).toEqual([
      "search transition",
      "search transition",
      "search transition",
      "help transition",
      "help transition",
      "search transition",
    ]);
    const actionsAt = (index: number): unknown =>
      JSON.parse(JSON.stringify(model.requests[index]?.tools?.find(({ name }) => name === "transition"))).inputSchema.properties.action;
    expect(actionsAt(0)).toEqual({ type: "string", enum: ["close"], description: "close: The case is settled." });
    expect(actionsAt(3)).toEqual({ type: "string", enum: ["reopen"], description: "reopen" });
    expect(found.map(([name, output, isError]) => [name, isError, output])).toEqual([
      [
        "transition",
        true,
        `"reopen" is not possible in the state "open". Possible there: "close". Tools that are there now: search. With the tool transition: close.`,
      ],
      ["transition", true, expect.stringContaining("close, reopen")],
      ["transition", false, `Now in the state "closed". Tools that are there now: help. With the tool transition: reopen.`],
      ["search", true, expect.stringContaining(`not possible in the state "closed"`)],
      ["transition", true, expect.stringContaining("was refused")],
      ["transition", false, expect.stringContaining(`Now in the state "open"`)],
    ]);
  });

  it("offers the model the same tools while it stays in a state, for all its runs", async () => {
    const { model, agent } = set([calls("note"), "ok", "ok"]);
    const runner = runnerOf(agent);
    await runner.run("go").outcome;
    await runner.run("go").outcome;
    expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
    expect(model.requests[2]?.tools).toEqual(model.requests[0]?.tools);
  });

  it("ends with an error when a guard throws, which names the action", async () => {
    const strategy = fsmStrategy()
      .initial("a")
      .transitionWithGuard(
        "a",
        "verify",
        "b",
        closureGuard("broken", () => {
          throw new Error("no luck");
        }),
        0,
      )
      .build();
    const { agent } = set([calls("verify"), "never"], { strategy });
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.error?.failure).toMatchObject({ kind: "panic", message: `The guard "broken" threw: no luck` });
  });

  it("is not constrained by the direct strategy: the same tools, the same definition but for its digest [FS-11]", async () => {
    const plain = set([calls("refund", "verify"), "ok"], { strategy: directStrategy() });
    const found = await results(runnerOf(plain.agent).run("go"));
    expect(found.map(([, , isError]) => isError)).toEqual([false, false]);
    expect(told(plain.model)[0]).toEqual(["help", "note", "refund", "search", "verify"]);
  });

  it("never touches the state of the strategy that it was given", async () => {
    const built = desk().build();
    const { agent } = set([calls("verify"), "ok"], { strategy: built });
    await runnerOf(agent).run("go").outcome;
    expect(built.strategy.currentState()).toBe("triage");
  });
});

describe("the state of an agent's machine", () => {
  it("goes on in the next run of the session, unless it is the run's own", async () => {
    const after = async (strategy: FsmStrategyBuilder) => {
      const { model, agent } = set([calls("verify"), "ok", "ok", "ok"], { strategy: strategy.build() });
      const runner = runnerOf(agent);
      for (const session of ["s", "s", "other"]) await runner.run("go", { session }).outcome;
      return told(model).map((names) => names.includes("refund"));
    };
    expect(await after(desk())).toEqual([false, true, true, false]);
    const own = fsmStrategy({ scope: "run" })
      .initial("triage")
      .tools("search", "help", "note")
      .transition("triage", "verify", "verified")
      .transition("verified", "refund", "done");
    expect(await after(own)).toEqual([false, true, false, false]);
  });

  it("goes back with a rewind, and is a fork's from the turn where it begins", async () => {
    const { model, agent } = set([calls("note"), calls("verify"), "ok", "forked", "forked later", "rewound"]);
    const runner = runnerOf(agent);
    await runner.run("go", { session: "s" }).outcome;
    for (const turn of [1, 2]) {
      const fork = await runner.sessions.fork("s", { turn });
      await runner.run("again", { session: fork }).outcome;
    }
    await runner.sessions.rewind("s", 1);
    await runner.run("again", { session: "s" }).outcome;
    expect(told(model).map((names) => names.includes("refund"))).toEqual([false, false, true, false, true, false]);
  });

  it("is each agent's own where several share a session", async () => {
    const first = set([calls("verify"), "ok", "ok"]);
    const second = set(["ok"], { name: "other" });
    const runner = createRunner({ agents: { desk: first.agent, other: second.agent }, clock: impatientClock() });
    for (const agent of ["desk", "other", "desk"] as const) await runner.run("go", { session: "s", agent }).outcome;
    expect(told(second.model)[0]).toContain("verify");
    expect(told(first.model).at(-1)).toContain("refund");
  });

  it("survives the process: it stands in the log, once for each move", async () => {
    const log = createMemoryEventLog();
    const asking = { permissions: { rules: [{ pattern: "refund", behavior: "ask" as const }] } };
    const before = set([calls("note"), calls("verify"), { toolCalls: [call("refund", { amount: 5 })] }], asking);
    const { outcome } = await watch(runnerOf(before.agent, { log }).run("go", { session: "s" }));
    expect(outcome.reason).toBe("awaiting-approval");
    const after = set([calls("verify"), "ok"], { ...asking, permissions: { mode: "bypass-all" } });
    const resumed = await runnerOf(after.agent, { log }).resume("s");
    const { events } = await watch(resumed);
    expect(ofType(events, "definition-change")).toHaveLength(1);
    expect(await statesIn(log)).toEqual(["triage", "verified"]);
    expect((await runnerOf(after.agent, { log }).sessions.get("s")).run).toMatchObject({ state: "verified" });
  });

  it("holds a run back whose new definition does not have it; one that has it goes on [FS-03]", async () => {
    const log = createMemoryEventLog();
    const waiting = set([calls("verify"), { toolCalls: [call("refund", { amount: 5 })] }], {
      permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
    });
    await runnerOf(waiting.agent, { log }).run("go", { session: "s" }).outcome;
    const length = await log.head(sessionLog("s" as SessionId));
    const other = fsmStrategy().initial("start").tools("verify", "refund", "note", "search", "help").build();
    const changed = set(["never"], { strategy: other });
    const runner = runnerOf(changed.agent, { log });
    const { outcome } = await watch(await runner.resume("s"));
    expect(AgentError.is(outcome.error, "session") && outcome.error.message).toBe(
      `Session "s" is in the state "verified", which the strategy of the agent "desk" no longer has; it has "start". Go on with a definition that has it, or in another session.`,
    );
    expect(await runner.advance("s")).toMatchObject({ next: { type: "waiting" } });
    expect(await log.head(inboxLog("s" as SessionId))).toBe(0);
    // It has something to do only now.
    await runner.signal("s", { kind: "news", payload: null });
    await expect(runner.advance("s")).rejects.toThrow(/no longer has/);
    expect(await log.head(sessionLog("s" as SessionId))).toBe(length);
    const mended = set(["ok"], { permissions: { mode: "bypass-all" } });
    const { outcome: end } = await watch(await runnerOf(mended.agent, { log }).resume("s"));
    expect(end.reason).not.toBe("error");
    expect(await log.head(inboxLog("s" as SessionId))).toBe(1);
  });
});

async function statesIn(log: EventLog): Promise<readonly JsonValue[]> {
  const states: JsonValue[] = [];
  for await (const { type, data } of log.read(sessionLog("s" as SessionId)))
    if (type === "strategy-state") states.push(data["state"] as JsonValue);
  return states;
}

describe("a strategy that does not fit its agent", () => {
  const optionOf = (options: Partial<AgentOptions>): string => {
    try {
      set([], options);
    } catch (error) {
      if (AgentError.is(error, "invalid-option")) return `${error.failure.option}: ${error.message}`;
      throw error;
    }
    return "nothing";
  };

  it.each<readonly [string, Partial<AgentOptions>, string]>([
    ["is no strategy", { strategy: {} as never }, "strategy: strategy must be made with fsmStrategy()….build() or directStrategy()."],
    ["is a builder", { strategy: desk() as never }, "strategy: strategy must be made with"],
    [
      "has an action that is no tool",
      { strategy: desk().transition("done", "refunds", "triage").build() },
      `strategy: strategy has the action "refunds", which is none of the agent's tools. Did you mean "refund"? Let the model take it as it is with offer("refunds").`,
    ],
    ["has an action whose tool is excluded", { excludedTools: ["verify"] }, `strategy: strategy has the action "verify"`],
    [
      "offers an action that is a tool",
      { strategy: desk().offer("verify").build() },
      `strategy: strategy offers the action "verify" although it is a tool`,
    ],
    [
      "names a tool that is none",
      { strategy: desk().tools("serch").build() },
      `strategy: strategy names the tool "serch", which is none of the agent's. Did you mean "search"?`,
    ],
    [
      "needs the name of a tool that there is",
      {
        strategy: fsmStrategy().initial("a").transition("a", "go", "b").offer("go").build(),
        tools: [recordingTool("transition")],
      },
      `strategy: strategy offers actions with a tool "transition"`,
    ],
    [
      "routes a signal to a state that it does not have",
      {
        strategy: desk()
          .route({ kind: "x", action: { type: "transition", state: "gone" }, priority: 0 })
          .build(),
      },
      `strategy.signalRoutes()[0]: strategy.signalRoutes()[0] moves to the state "gone"`,
    ],
  ])("is refused where it %s", (_title, options, message) => {
    expect(optionOf(options).startsWith(message) ? message : optionOf(options)).toBe(message);
  });

  it("changes the agent's digest with every part of it", () => {
    const digest = (strategy: FsmStrategyBuilder): string => set([], { strategy: strategy.build() }).agent.digest;
    const variants = [
      desk(),
      desk().initial("verified"),
      desk().tools("search"),
      desk().state("verified", { tools: ["search"] }),
      desk().transition("done", "note", "done"),
      desk().transitionWithGuard(
        "done",
        "note",
        "done",
        closureGuard("g", () => true),
        1,
      ),
      desk().transitionWithGuard(
        "done",
        "note",
        "done",
        closureGuard("h", () => true),
        1,
      ),
      desk().transitionWithGuard(
        "done",
        "note",
        "done",
        closureGuard("h", () => true),
        2,
      ),
      desk().route({ kind: "x", action: { type: "continue" }, priority: 0 }),
    ];
    expect(new Set(variants.map(digest)).size).toBe(variants.length);
    expect(digest(desk())).toBe(digest(desk()));
  });
});
