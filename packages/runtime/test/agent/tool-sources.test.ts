import { createAgent, createRunner, defineTool, type InferRequest, type Tool } from "keelson";
import { fsmStrategy } from "keelson/agent";
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from "keelson/testing";
import { sessionLog, type EventLog, type LogRecord } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { growingSource } from "./growing-source.ts";
import { heldClock } from "./held-clock.ts";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const toolsOf = ({ tools }: InferRequest): readonly string[] => (tools ?? []).map(({ name }) => name);
const offered = ({ requests }: ScriptedModel): readonly (readonly string[])[] => requests.map(toolsOf);
const call = (name: string, input = {}): ScriptedTurn => ({ toolCalls: [{ name, input }] });

async function offersIn(log: EventLog, session = "s"): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as never))) if (record.type === "tools-offered") records.push(record);
  return records;
}

/** Changes what a source offers while the turn runs in which it is called. */
function changing(change: () => void): Tool {
  return defineTool({
    name: "change",
    description: "Changes.",
    effect: "read",
    input: { type: "object" },
    execute: () => (change(), "ok"),
  });
}

describe("tools of a source", () => {
  it("are offered beside the agent's own, called like them, and recorded once", async () => {
    const services = sharedServices();
    const look = recordingTool("look", { effect: "read" });
    const model = scriptedModel([call("look", { at: 1 }), "done", "again"]);
    const source = growingSource([look]);
    const agent = createAgent({ name: "a", model, tools: [recordingTool("own")], toolSources: [source] });
    const run = runnerOf(agent, services).run("go", { session: "s" });
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(look.calls).toEqual([{ at: 1 }]);
    expect(offered(model)).toEqual([
      ["look", "own"],
      ["look", "own"],
    ]);
    expect(source.places).toMatchObject([{ session: "s", agent: "a", runId: run.id }]);
    expect(source.closed).toBe(1);
    expect(source.places[0]?.signal.aborted).toBe(true);

    await runnerOf(agent, services).run("and now?", { session: "s" }).outcome;
    expect(await offersIn(services.log)).toMatchObject([{ data: { agent: "a", source: "shelf", tools: [{ name: "look" }] } }]);
  });

  it("appear, change and vanish between turns, and only what changed is recorded", async () => {
    const services = sharedServices();
    const one = recordingTool("one");
    const two = recordingTool("two");
    const source = growingSource([one]);
    const steps = [
      () => source.offer(one, two),
      () => {},
      () => source.offer({ ...one, description: "Another." }, two),
      () => source.offer(two),
    ];
    const change = changing(() => steps.shift()?.());
    const model = scriptedModel([...[1, 2, 3, 4].map((n) => call("change", { n })), "done"]);
    await runnerOf(createAgent({ name: "a", model, tools: [change], toolSources: [source] }), services).run("go", { session: "s" }).outcome;
    expect(offered(model)).toEqual([
      ["change", "one"],
      ["change", "one", "two"],
      ["change", "one", "two"],
      ["change", "one", "two"],
      ["change", "two"],
    ]);
    expect(model.requests[3]?.tools?.[1]?.description).toBe("Another.");
    expect((await offersIn(services.log)).map(({ data }) => data)).toEqual([
      { agent: "a", source: "shelf", tools: [expect.objectContaining({ name: "one" })] },
      { agent: "a", source: "shelf", tools: [expect.objectContaining({ name: "two" })] },
      { agent: "a", source: "shelf", tools: [expect.objectContaining({ name: "one", description: "Another." })] },
      { agent: "a", source: "shelf", removed: ["one"] },
    ]);
  });

  it("hold no run up where their source hangs or takes its time", async () => {
    const never = new Promise<void>(() => {});
    const late = Promise.withResolvers<void>();
    const source = growingSource([recordingTool("late")], { ready: late.promise });
    const model = scriptedModel([call("change"), "done"]);
    const change = changing(() => late.resolve());
    const hanging = [growingSource([recordingTool("x")], { name: "h", ready: never }), growingSource([], { name: "o", opening: never })];
    const agent = createAgent({ name: "a", model, tools: [change], toolSources: [...hanging, source] });
    const clock = heldClock();
    expect((await createRunner({ agent, clock }).run("go").outcome).text).toBe("done");
    expect(offered(model)).toEqual([["change"], ["change", "late"]]);
  });

  it("are waited for by the first turn for as long as their source says, and no longer", async () => {
    const late = Promise.withResolvers<void>();
    const model = scriptedModel(["done", "done"]);
    const agentWith = (ready: Promise<void>) =>
      createAgent({ name: "a", model, toolSources: [growingSource([recordingTool("late")], { ready, startupWaitMs: 10_000 })] });
    const clock = heldClock();
    const run = createRunner({ agent: agentWith(late.promise), clock }).run("go");
    await clock.waiting(10_000);
    expect(model.requests).toHaveLength(0);
    late.resolve();
    await run.outcome;
    expect(offered(model)).toEqual([["late"]]);

    const never = createRunner({ agent: agentWith(new Promise(() => {})), clock }).run("go");
    await clock.waiting(10_000);
    await clock.advance(10_000);
    expect((await never.outcome).text).toBe("done");
    expect(offered(model)[1]).toEqual([]);
  });

  it.each(["abort", "stop"] as const)("are not waited for once the run is told to end: %s", async (how) => {
    const model = scriptedModel([]);
    const source = growingSource([], { ready: new Promise(() => {}), startupWaitMs: 10_000 });
    const clock = heldClock();
    const run = createRunner({ agent: createAgent({ name: "a", model, toolSources: [source] }), clock }).run("go");
    await clock.waiting(10_000);
    await run[how]();
    expect((await run.outcome).reason).toBe(how === "abort" ? "aborted" : "stopped");
    expect([model.requests.length, source.closed]).toEqual([0, 1]);
  });

  it("are missed where their source can't be opened, which is told once", async () => {
    const model = scriptedModel([call("change"), "done"]);
    const failing = { name: "broken", open: () => Promise.reject(new Error("no such program")) };
    const throwing = {
      name: "thrown",
      open: () => {
        throw new Error("no such folder");
      },
    };
    const ailing = growingSource([recordingTool("look")], { name: "ailing" });
    ailing.problems = ["One server is not there."];
    const agent = createAgent({ name: "a", model, tools: [changing(() => {})], toolSources: [failing, throwing, ailing] });
    const { events, outcome } = await watch(runnerOf(agent).run("go"));
    expect(outcome.text).toBe("done");
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      'The source of tools "thrown" could not be opened: no such folder',
      'The source of tools "broken" could not be opened: no such program',
      "One server is not there.",
    ]);
  });

  it("leave those that were there first their names, and say which are left out", async () => {
    const own = recordingTool("look", { effect: "read" });
    const theirs = recordingTool("look", { effect: "read" });
    const first = recordingTool("find", { effect: "read" });
    const second = recordingTool("find", { effect: "read" });
    const model = scriptedModel([{ toolCalls: [{ name: "look" }, { name: "find" }] }, "done"]);
    const toolSources = [growingSource([theirs, first], { name: "one" }), growingSource([second], { name: "two" })];
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [own], toolSources })).run("go"));
    expect([own, theirs, first, second].map(({ calls }) => calls.length)).toEqual([1, 0, 1, 0]);
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      'The tool "look" of the source "one" is left out: "look" is taken by the agent\'s own tool "look".',
      'The tool "find" of the source "two" is left out: "find" is taken by the tool "find" of a source.',
    ]);
  });

  it("keep their name before one that a source of a higher place offers later", async () => {
    const early = recordingTool("find", { effect: "read" });
    const later = recordingTool("find", { effect: "read" });
    const high = growingSource([], { name: "high" });
    const model = scriptedModel([call("change"), call("find"), "done"]);
    const toolSources = [high, growingSource([early], { name: "low" })];
    await runnerOf(createAgent({ name: "a", model, tools: [changing(() => high.offer(later))], toolSources })).run("go").outcome;
    expect([early.calls.length, later.calls.length]).toEqual([1, 0]);
  });

  it("cost themselves alone where they can't be tools of a run", async () => {
    const model = scriptedModel(["done"]);
    const helper = createAgent({ name: "helper", model: scriptedModel([]) });
    const source = growingSource([{ ...recordingTool("x"), name: "not a name" }, helper.asTool(), recordingTool("good")]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, toolSources: [source] })).run("go"));
    expect(offered(model)).toEqual([["good"]]);
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      expect.stringContaining('"not a name"'),
      expect.stringContaining("stands for an agent"),
    ]);
  });
});

describe("what a run may do holds for tools of sources", () => {
  const tools = (): readonly (Tool & { readonly calls: unknown[] })[] => [
    recordingTool("mcp__notes__list", { effect: "read", risk: "medium" }),
    recordingTool("mcp__notes__add", { risk: "medium" }),
  ];
  const asking = { toolCalls: [{ name: "mcp__notes__list" }, { name: "mcp__notes__add" }] };
  const allowAll = [{ pattern: "mcp__notes__*", behavior: "allow" }] as const;

  it.each([
    ["no rule", {}, "awaiting-approval", [0, 0]],
    ["a pattern that allows them", { permissions: { rules: allowAll } }, "complete", [1, 1]],
    [
      "a rule about one of them",
      { permissions: { rules: [...allowAll, { pattern: "mcp__notes__add", behavior: "deny" }] } },
      "complete",
      [1, 0],
    ],
    ["plan-only", { permissions: { mode: "plan-only", rules: allowAll } }, "complete", [1, 0]],
    ["bypass-all", { permissions: { mode: "bypass-all" } }, "complete", [1, 1]],
    ["deny-unauthorized", { permissions: { mode: "deny-unauthorized" } }, "complete", [0, 0]],
    ["allowedTools", { permissions: { mode: "bypass-all" }, allowedTools: ["mcp__notes__list"] }, "complete", [1, 0]],
    ["excludedTools", { permissions: { mode: "bypass-all" }, excludedTools: ["mcp__notes__add"] }, "complete", [1, 0]],
  ] as const)("with %s", async (_, options, reason, calls) => {
    const [list, add] = tools();
    const model = scriptedModel([asking, "done"]);
    const agent = createAgent({ name: "a", model, toolSources: [growingSource([list as Tool, add as Tool])], ...options });
    const outcome = await runnerOf(agent).run("go").outcome;
    expect(outcome.reason).toBe(reason);
    expect([list?.calls.length, add?.calls.length]).toEqual(calls);
  });

  it("and the model is told of those alone that it may call", async () => {
    const model = scriptedModel(["done"]);
    await runnerOf(createAgent({ name: "a", model, toolSources: [growingSource(tools())], allowedTools: ["mcp__notes__list"] })).run("go")
      .outcome;
    expect(offered(model)).toEqual([["mcp__notes__list"]]);
  });

  it("where rules name tools that come later, and a name of another spelling is refused", () => {
    const define = (pattern: string) => () =>
      runnerOf(
        createAgent({
          name: "a",
          model: scriptedModel([]),
          tools: [recordingTool("read_file")],
          toolSources: [growingSource()],
          permissions: { rules: [{ pattern, behavior: "allow" }] },
        }),
      );
    for (const later of ["mcp__notes__add", "add_note", "read_files", "notes_*"]) expect(define(later)).not.toThrow();
    for (const wrong of ["Read", "READ_FILE"]) expect(define(wrong)).toThrow('Did you mean "read_file"');
  });

  it("in the states of a strategy, where it names them", async () => {
    const [list, add] = tools();
    const strategy = fsmStrategy().initial("look").tools("mcp__notes__list").transition("look", "finish", "done").offer("finish").build();
    const model = scriptedModel([asking, "done"]);
    const agent = createAgent({
      name: "a",
      model,
      strategy,
      toolSources: [growingSource([list as Tool, add as Tool])],
      permissions: { mode: "bypass-all" },
    });
    await runnerOf(agent).run("go").outcome;
    expect(offered(model)[0]).toEqual(["mcp__notes__list", "transition"]);
    expect([list?.calls.length, add?.calls.length]).toEqual([1, 0]);
  });

  it("and children have those of their own agents alone", async () => {
    const look = recordingTool("look", { effect: "read" });
    const find = recordingTool("find", { effect: "read" });
    const inner = growingSource([find], { name: "inner" });
    const outer = growingSource([look], { name: "outer" });
    const childModel = scriptedModel([call("find"), "found"]);
    const child = createAgent({ name: "child", model: childModel, toolSources: [inner] });
    const model = scriptedModel([call("child", { task: "find it" }), "done"]);
    await runnerOf(createAgent({ name: "a", model, agents: { child }, toolSources: [outer] })).run("go").outcome;
    expect([offered(model)[0], offered(childModel)[0]]).toEqual([["child", "look"], ["find"]]);
    expect([find.calls.length, inner.closed, outer.closed]).toEqual([1, 1, 1]);
    expect(inner.places[0]?.agent).toBe("child");
  });

  it("and `with` changes them", async () => {
    const model = scriptedModel(["done"]);
    const agent = createAgent({ name: "a", model, toolSources: [growingSource([recordingTool("one")])] });
    await runnerOf(agent.with({ toolSources: [growingSource([recordingTool("two")])] })).run("go").outcome;
    expect(offered(model)).toEqual([["two"]]);
  });
});
