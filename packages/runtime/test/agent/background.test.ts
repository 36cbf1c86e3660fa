import { createAgent, createRunner, defineTool, usd, type AgentEvent, type AgentOptions, type Run } from "keelson";
import { createHookRegistry, type TaskRunner } from "keelson/agent";
import { scriptedModel, type ScriptedResponse, type ScriptedTurn } from "keelson/testing";
import type { Directive, EffectExecutor, InferRequest, RunControl } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { declare, declaring } from "./declaring.ts";
import { ofType, recordingTool, sharedServices, watch } from "./support.ts";

const spawn = (name: string, config: { readonly [key: string]: string | number } = {}): Directive => ({
  type: "spawn-agent",
  name,
  config: { task: `task of ${name}`, ...config },
});

function lead(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "lead", model, ...options, tools: [declaring(), ...(options.tools ?? [])] }) };
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** What the user or the runtime said last. */
function told(request: InferRequest | undefined): string {
  const message = request?.messages.at(-1);
  return message?.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("") : `(${message?.role})`;
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("an agent that was spawned", () => {
  it("works while its parent's turns go on, and its result reaches the next one [DI-03]", async () => {
    const found = gate();
    const helper = createAgent({ name: "helper", model: scriptedModel([{ text: "Found it.", wait: found.opened }]) });
    const look = recordingTool("look", { effect: "read" });
    const main = lead(
      [
        declare(spawn("helper", { task: "find it" })),
        { toolCalls: [{ name: "look" }] },
        // The child is told to end only now: this turn began without it.
        { text: "Looking on.", toolCalls: [{ name: "look", input: { n: 2 } }], wait: async () => found.open() },
        { toolCalls: [{ name: "look", input: { n: 3 } }] },
        "All done.",
        "Thanks.",
      ],
      { tools: [look] },
    );
    const { events, outcome } = await watch(
      createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" }),
    );
    expect(outcome).toMatchObject({ reason: "complete" });
    const [start] = ofType(events, "child-start");
    expect(start).toMatchObject({ agent: "helper", background: { name: "helper", config: { task: "find it" } } });
    expect(start).not.toHaveProperty("callId");
    const [end] = ofType(events, "child-end");
    expect(end).toMatchObject({ child: start?.child, reason: "complete" });
    expect(look.calls).toHaveLength(3);
    const reports = main.model.requests.map(told).filter((text) => text.startsWith("The background"));
    expect(reports).toEqual([`The background agent "helper" (${start?.child}) is done:\nFound it.`]);
    const own = events.filter(({ path }) => path?.join() === "helper");
    expect(own.map(({ type }) => type)).toContain("run-complete");
  });

  it("is not reported as done where it ended without an output", async () => {
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([{ toolCalls: [{ name: "look" }] }, "", " "]),
      tools: [recordingTool("look", { effect: "read" })],
    });
    const main = lead([declare(spawn("helper")), "Waiting for it.", "It said nothing."]);
    const run = createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" });
    expect((await run.outcome).text).toBe("It said nothing.");
    expect(told(main.model.requests[2])).toMatch(/^The background agent "helper" \(\S+\) ended without an output \(no-action\)/);
  });

  it("holds its parent at the end, and its result gets one more turn", async () => {
    const found = gate();
    const helper = createAgent({ name: "helper", model: scriptedModel([{ text: "Found it.", wait: found.opened }]) });
    const main = lead([declare(spawn("helper")), "Waiting for it.", "It is found."]);
    const run = createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" });
    await until(() => main.model.requests.length === 2);
    found.open();
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "It is found.", turns: 3 });
    expect(told(main.model.requests[2])).toContain("is done:\nFound it.");
  });

  it("counts in its parent's usage and cost, and has its authority, limits and depth [AG-20]", async () => {
    const price = { input: "1000", output: "1000", asOf: "2026-01-01" };
    const usage = { inputTokens: 1000, outputTokens: 0 };
    const write = recordingTool("write", { effect: "write" });
    const helperModel = scriptedModel([{ toolCalls: [{ name: "write" }], usage }, { text: "never" }], { price });
    const helper = createAgent({ name: "helper", model: helperModel, tools: [write], permissions: { mode: "bypass-all" } });
    const model = scriptedModel(
      [
        { ...declare(spawn("helper", { maxTurns: 1 })), usage },
        { text: "a", usage },
        { text: "b", usage },
      ],
      { price },
    );
    const agent = createAgent({
      name: "main",
      model,
      tools: [declaring()],
      permissions: { rules: [{ pattern: "write", behavior: "deny" }] },
    });
    const { events, outcome } = await watch(
      createRunner({ ...sharedServices(), agents: { main: agent, helper } }).run("go", { agent: "main" }),
    );
    expect(write.calls).toEqual([]);
    expect(ofType(events, "child-end")).toMatchObject([{ reason: "max-turns", cost: "1" }]);
    expect(outcome).toMatchObject({ reason: "complete", cost: usd("4") });
    const flat = await watch(
      createRunner({ ...sharedServices(), maxDepth: 0, agents: { main: lead([declare(spawn("helper")), "done"]).agent, helper } }).run(
        "go",
        {
          agent: "main",
        },
      ),
    );
    expect(ofType(flat.events, "status").map(({ status }) => status)).toEqual([expect.stringContaining("limit of nested agents")]);
    expect(ofType(flat.events, "child-start")).toEqual([]);
  });

  it("never looks like a success when it failed: its parent's model is told why, with what it had", async () => {
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([
        { text: "Half of it.", toolCalls: [{ name: "none" }] },
        { error: { kind: "authentication", message: "who are you?" } },
      ]),
    });
    const main = lead([declare(spawn("helper")), "waiting", "alone then"]);
    const { events, outcome } = await watch(
      createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" }),
    );
    expect(outcome).toMatchObject({ reason: "complete", text: "alone then" });
    expect(told(main.model.requests[2])).toMatch(
      /^The background agent "helper" \(r_\w+\) ended early \(error\): [^]*who are you\?[^]*What it had so far:\nHalf of it\.$/,
    );
    expect(ofType(events, "child-end")).toMatchObject([{ reason: "error", failure: { kind: "model" } }]);
  });

  it("may be one of several under different names, of one definition", async () => {
    const model = scriptedModel(Array.from({ length: 3 }, (): ScriptedTurn => (request) => `did ${told(request)}`));
    const helper = createAgent({ name: "helper", model });
    const main = lead([
      declare(spawn("one", { agent: "helper" }), spawn("two", { agent: "helper" }), spawn("three", { agent: "helper" })),
      (request) => (request.messages.filter(({ role }) => role === "user").length === 4 ? "all in" : "waiting"),
      (request) => (request.messages.filter(({ role }) => role === "user").length === 4 ? "all in" : "waiting"),
      (request) => (request.messages.filter(({ role }) => role === "user").length === 4 ? "all in" : "waiting"),
      "all in",
    ]);
    const { outcome, events } = await watch(
      createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" }),
    );
    expect(outcome.text).toBe("all in");
    const said = JSON.stringify(main.model.requests.at(-1)?.messages);
    for (const name of ["one", "two", "three"])
      expect(said).toMatch(new RegExp(`agent .{1,3}${name}.{1,3} .{5,40} is done:.ndid task of ${name}`));
    expect(new Set(ofType(events, "child-start").map(({ session }) => session)).size).toBe(3);
  });

  it("is refused where there is no such agent, its configuration makes no sense, or too many are at work: the run goes on", async () => {
    const held = gate();
    const helper = createAgent({ name: "helper", model: scriptedModel([{ text: "late", wait: held.opened }]) });
    const main = lead(
      [
        declare(spawn("nobody"), spawn("helper", { maxTurns: -1 }), spawn("helper"), spawn("second", { agent: "helper" })),
        { text: "waiting", wait: async () => held.open() },
        "done",
      ],
      { limits: { maxBackground: 1 } },
    );
    const { events, outcome } = await watch(
      createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" }),
    );
    expect(outcome.text).toBe("done");
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      expect.stringMatching(/no agent "nobody".*lead, helper/),
      expect.stringMatching(/config\.maxTurns. must be a number above zero, not -1/),
      expect.stringMatching(/limits\.maxBackground/),
    ]);
    expect(ofType(events, "child-start")).toHaveLength(1);
  });

  it("can be offered as a tool whose calls have their result at once", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel([(request) => `did ${told(request)}`]) });
    const model = scriptedModel([{ toolCalls: [{ name: "bg", input: { task: "dig" } }] }, "waiting", "done"]);
    const agent = createAgent({ name: "lead", model, tools: [helper.asTool({ name: "bg", background: true, limits: { maxTurns: 2 } })] });
    const { events, outcome } = await watch(createRunner({ ...sharedServices(), agent }).run("go"));
    expect(outcome.text).toBe("done");
    const [start] = ofType(events, "child-start");
    expect(ofType(events, "tool-result")[0]).toMatchObject({
      output: expect.stringContaining(`Started as ${start?.child}`),
      isError: false,
    });
    expect(start).toMatchObject({
      background: { name: "bg", config: { agent: "helper", task: "dig", maxTurns: 2 } },
      callId: expect.any(String),
    });
    expect(told(model.requests[2])).toContain("did dig");
  });
});

it("hooks are told of agents beside the turns, and may refuse them", async () => {
  const told: string[] = [];
  const hooks = createHookRegistry()
    .onSubagentStart("*", ({ agentName, initialMessage }) => {
      told.push(`start ${agentName}: ${initialMessage ?? ""}`);
      return agentName === "bad" ? { type: "abort", reason: "not this one" } : undefined;
    })
    .onSubagentStop("*", ({ agentName, reason }) => void told.push(`stop ${agentName}: ${reason}`));
  const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
  const bad = createAgent({ name: "bad", model: scriptedModel([]) });
  const main = lead([declare(spawn("helper"), spawn("bad")), "waiting", "done"], { hooks });
  const { events, outcome } = await watch(
    createRunner({ ...sharedServices(), agents: { main: main.agent, helper, bad } }).run("go", { agent: "main" }),
  );
  expect(outcome.text).toBe("done");
  expect(told).toEqual(["start helper: task of helper", "start bad: task of bad", "stop helper: complete"]);
  expect(ofType(events, "child-start").map(({ agent }) => agent)).toEqual(["helper"]);
  expect(ofType(events, "status").map(({ status }) => status)).toEqual([expect.stringContaining("not this one")]);
});

describe("stopping one of several", () => {
  it("by its name lets the others work on, and keeps what it had [DI-04]", async () => {
    const held = gate();
    const never = gate();
    const slow = createAgent({
      name: "slow",
      model: scriptedModel([{ text: "Begun.", toolCalls: [{ name: "work" }] }, "never"]),
      tools: [
        defineTool({
          name: "work",
          description: "Works.",
          input: { type: "object" },
          async execute(_input, { stopping }) {
            await Promise.race([
              never.opened,
              new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve(), { once: true })),
            ]);
            return "cut short";
          },
        }),
      ],
    });
    const quick = createAgent({ name: "quick", model: scriptedModel([{ text: "quick answer", wait: held.opened }]) });
    const main = lead([
      declare(spawn("slow"), spawn("quick")),
      { ...declare({ type: "stop-child", name: "slow" }), wait: async () => until(() => true) },
      { text: "waiting", wait: async () => held.open() },
      "one is in",
      "both are in",
    ]);
    const { events, outcome } = await watch(
      createRunner({ ...sharedServices(), agents: { main: main.agent, slow, quick } }).run("go", { agent: "main" }),
    );
    expect(outcome.reason).toBe("complete");
    const ends = Object.fromEntries(
      ofType(events, "child-end").map(({ child, reason }) => [
        ofType(events, "child-start").find((start) => start.child === child)?.agent,
        reason,
      ]),
    );
    expect(ends).toEqual({ slow: "stopped", quick: "complete" });
    const said = JSON.stringify(main.model.requests.at(-1)?.messages);
    expect(said).toMatch(/slow[^"]*"[^"]*ended early \(stopped\)[^"]*Begun\./);
    expect(said).toMatch(/quick answer/);
  });

  it("is done through the run's handle, by id, at any depth; others, and those above, work on", async () => {
    const heard = gate();
    const deep = createAgent({
      name: "deep",
      model: scriptedModel([{ text: "deep so far", toolCalls: [{ name: "wait" }] }, "never"]),
      tools: [
        defineTool({
          name: "wait",
          description: "Waits.",
          input: { type: "object" },
          async execute(_input, { stopping }) {
            heard.open();
            await new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve(), { once: true }));
            return "heard";
          },
        }),
      ],
    });
    const middleModel = scriptedModel([
      { toolCalls: [{ name: "deep", input: { task: "t" } }] },
      (request) => `middle heard ${JSON.stringify(request.messages.at(-1))}`,
    ]);
    const middle = createAgent({ name: "middle", model: middleModel, agents: { deep } });
    const top = createAgent({
      name: "top",
      model: scriptedModel([{ toolCalls: [{ name: "middle", input: { task: "t" } }] }, "top done"]),
      agents: { middle },
    });
    const run = createRunner({ ...sharedServices(), agent: top }).run("go");
    await heard.opened;
    const [view] = await run.children();
    expect(view).toMatchObject({
      kind: "agent",
      agent: "middle",
      status: "working",
      background: false,
      children: [{ agent: "deep", status: "working", text: "deep so far" }],
    });
    const id = view?.children[0]?.id ?? "";
    expect([await run.stopChild("r_nobody"), await run.stopChild(id)]).toEqual([false, true]);
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "top done" });
    const after = await run.children();
    expect(after).toMatchObject([{ agent: "middle", status: "complete", children: [{ agent: "deep", status: "stopped" }] }]);
    expect(after[0]?.text).toMatch(/middle heard.*deep ended early: stopped.*deep so far/);
    expect(await run.stopChild(id)).toBe(false);
  });
});

it("an agent that is stopped as it begins does no more than one turn [DI-04]", async () => {
  const model = scriptedModel([{ toolCalls: [{ name: "none" }] }, "never"]);
  const helper = createAgent({ name: "helper", model });
  const main = lead([declare(spawn("helper"), { type: "stop-child", name: "helper" }), "waiting", "over"]);
  const { events, outcome } = await watch(
    createRunner({ ...sharedServices(), agents: { main: main.agent, helper } }).run("go", { agent: "main" }),
  );
  expect(outcome.reason).toBe("complete");
  expect(ofType(events, "child-end").map(({ reason }) => reason)).toEqual(["stopped"]);
  expect(model.requests.length).toBeLessThan(2);
});

describe("trying one again", () => {
  it("goes on in the same session under a new id; the others keep their results", async () => {
    const calls: string[] = [];
    const flaky = createAgent({
      name: "flaky",
      limits: { maxRetries: 0 },
      model: scriptedModel([
        { text: "First half.", toolCalls: [{ name: "none" }] },
        { error: { kind: "billing", message: "no funds" } },
        (request) => (calls.push(JSON.stringify(request.messages)), "Second half."),
      ]),
    });
    const held = gate();
    const main = lead([
      declare(spawn("flaky", { task: "both halves" })),
      "waiting",
      { text: "it failed", wait: async () => held.opened },
      "whole",
    ]);
    const run = createRunner({ ...sharedServices(), agents: { main: main.agent, flaky } }).run("go", { agent: "main" }) as Run;
    await until(() => main.model.requests.length === 3);
    const [failed] = await run.children();
    expect(failed).toMatchObject({ status: "error", text: "First half." });
    expect([await run.retryChild("r_nobody"), await run.retryChild(failed?.id ?? "")]).toEqual([false, true]);
    held.open();
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "whole" });
    const views = await run.children();
    expect(views).toMatchObject([
      { id: failed?.id, status: "error" },
      { session: failed?.session, status: "complete", text: "Second half." },
    ]);
    expect(views[1]?.id).not.toBe(failed?.id);
    expect(calls[0]).toMatch(/both halves[^]*First half\.[^]*ended early[^]*both halves/);
    expect(told(main.model.requests[3])).toContain("is done:\nSecond half.");
    expect(await run.retryChild(failed?.id ?? "")).toBe(false);
  });
});

describe("a run that ends otherwise", () => {
  const endings: [string, readonly ScriptedTurn[], Partial<AgentOptions>, (run: Run) => void][] = [
    ["max-turns", [{ toolCalls: [{ name: "declare", input: { directives: [] } }] }], { limits: { maxTurns: 2 } }, () => {}],
    ["error", [{ error: { kind: "billing" } }], {}, () => {}],
    ["stopped", ["waiting"], {}, (run) => void run.stop()],
    ["aborted", ["waiting"], {}, (run) => void run.abort()],
  ];
  it.each(endings)("(%s) stops what works beside it, and records that", async (reason, turns, options, act) => {
    const begun = gate();
    let signalled: unknown;
    const tasks: TaskRunner = {
      run: (_description, _input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => ((signalled = signal.reason), reject(signal.reason as Error)), { once: true });
        }),
    };
    const helper = createAgent({
      name: "helper",
      model: scriptedModel([{ text: "Working.", toolCalls: [{ name: "work" }] }, "never"]),
      tools: [
        defineTool({
          name: "work",
          description: "Works.",
          input: { type: "object" },
          async execute(_input, { signal, stopping }) {
            begun.open();
            await new Promise<void>((resolve) => {
              for (const each of [signal, stopping]) each.addEventListener("abort", () => resolve(), { once: true });
            });
            return "cut";
          },
        }),
      ],
    });
    const [first, ...rest] = turns;
    const main = lead(
      [
        declare(spawn("helper"), { type: "spawn-task", description: "index", input: {} }),
        typeof first === "string" ? first : { ...(first as ScriptedResponse), wait: begun.opened },
        ...rest,
      ],
      options,
    );
    const run = createRunner({ ...sharedServices(), tasks, agents: { main: main.agent, helper } }).run("go", { agent: "main" }) as Run;
    const watching = watch(run);
    void begun.opened.then(() => act(run));
    const { events, outcome } = await watching;
    expect(outcome.reason).toBe(reason);
    const end = reason === "aborted" ? "aborted" : "stopped";
    expect(ofType(events, "child-end")).toMatchObject([{ reason: end }]);
    expect(ofType(events, "task").map(({ kind, payload }) => [kind, (payload as { reason?: string }).reason])).toEqual([
      ["started", undefined],
      ["failed", end],
    ]);
    expect(signalled).toBeDefined();
    expect(await run.children()).toMatchObject([
      { status: end, text: "Working." },
      { kind: "task", status: end },
    ]);
    const last: AgentEvent | undefined = events.findLast(({ path }) => path === undefined);
    expect(["run-complete", "error"]).toContain(last?.type);
  });
});

describe("what an abort left behind", () => {
  /** A run whose executor asks for something once the run is over. */
  async function askLate<T>(ask: (run: RunControl) => Promise<T> | T, options: Partial<AgentOptions> = {}) {
    const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
    const main = lead([declare({ type: "custom", customType: "wait", payload: {} }), "never"], options);
    const asked = gate();
    const over = gate();
    let late: Promise<T> | undefined;
    const effects: EffectExecutor = {
      supports: () => true,
      execute(_effect, { run }) {
        asked.open();
        late = over.opened.then(() => ask(run));
        late.catch(() => {});
        return late as Promise<undefined>;
      },
    };
    const services = sharedServices();
    const agents = { main: main.agent, helper };
    const tasks: TaskRunner = { run: async () => "done" };
    const run = createRunner({ ...services, effects, tasks, agents }).run("go", { agent: "main", session: "s" });
    await asked.opened;
    await run.abort();
    expect((await run.outcome).reason).toBe("aborted");
    over.open();
    return { late: late as Promise<T>, run };
  }

  const TOO_LATE = "came too late: the run is over";

  it("starts no agent and no task beside a run that is over: nobody would end it", async () => {
    await expect((await askLate((run) => run.spawnAgent("helper", { task: "dig" }))).late).rejects.toThrow(TOO_LATE);
    const { late, run } = await askLate((control) => control.startTask("index", {}));
    await expect(late).rejects.toThrow(TOO_LATE);
    expect(await run.children()).toEqual([]);
  });

  it("shows no event behind the end of the run", async () => {
    const { late } = await askLate((run) => run.emit({ type: "status", status: "late" }));
    await expect(late).rejects.toThrow("Nothing was emitted: the run is over");
  });

  it.each([0, 1, 2, 3, 5, 8, 13])("is ended with the run where it is asked for while the run ends (after %i steps)", async (steps) => {
    const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
    const main = lead([declare(spawn("helper")), "never"]);
    const asked = gate();
    let settled: Promise<unknown> | undefined;
    const effects: EffectExecutor = {
      supports: () => true,
      execute(_effect, { run, signal }) {
        const spawnLate = async (): Promise<unknown> => {
          for (let step = 0; step < steps; step++) await Promise.resolve();
          return run.spawnAgent("helper", { task: "dig" });
        };
        signal.addEventListener("abort", () => (settled = Promise.allSettled([spawnLate()])), { once: true });
        asked.open();
        return new Promise<undefined>(() => {});
      },
    };
    const run = createRunner({ ...sharedServices(), effects, agents: { main: main.agent, helper } }).run("go", { agent: "main" });
    const watching = watch(run);
    await asked.opened;
    await run.abort();
    const { events, outcome } = await watching;
    expect(outcome.reason).toBe("aborted");
    await settled;
    const ended = ofType(events, "child-end").map(({ child }) => child);
    expect(ended).toEqual(ofType(events, "child-start").map(({ child }) => child));
    expect((await run.children()).map(({ id }) => id)).toEqual(ended);
  });

  it("leaves no job to a run that is over", async () => {
    const begun = gate();
    const over = gate();
    let late: Promise<void> | undefined;
    const stubborn = defineTool({
      name: "stubborn",
      description: "Ignores its signal.",
      effect: "read",
      input: { type: "object" },
      execute(_input, call) {
        begun.open();
        late = over.opened.then(() => call.follow?.({ id: "j", name: "serve", ended: new Promise(() => {}), end: () => {} }));
        late.catch(() => {});
        return late.then(() => "served");
      },
    });
    const main = lead([{ toolCalls: [{ name: "stubborn" }] }, "never"], { tools: [stubborn] });
    const run = createRunner({ ...sharedServices(), agent: main.agent }).run("go");
    await begun.opened;
    await run.abort();
    expect((await run.outcome).reason).toBe("aborted");
    over.open();
    await expect(late).rejects.toThrow('The job "serve" came too late: the run is over');
  });
});
