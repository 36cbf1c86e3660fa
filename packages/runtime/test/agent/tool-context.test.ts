import { AgentError, createAgent, createRunner, defineTool, textMessage, type ContextRequest, type JsonObject } from "keelson";
import { createHookRegistry, reactLoop } from "keelson/agent";
import { Context } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { createToolCall } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { ofType, sharedServices, watch } from "./support.ts";

interface Workspace {
  readonly name: string;
}

const look: ScriptedTurn = { toolCalls: [{ name: "look", input: {} }] };
const lookTool = defineTool.for<Workspace>()({
  name: "look",
  description: "Tells the name of the workspace.",
  effect: "read",
  input: { type: "object" },
  execute: (_input, { context, metadata }) => `${context.name} for ${String(metadata["user"])}`,
});

/** A factory that notes what it makes and what is disposed of. */
function notingFactory(log: string[] = []) {
  const requests: ContextRequest[] = [];
  const context = async (request: ContextRequest) => {
    requests.push(request);
    const name = `workspace ${requests.length}`;
    log.push(`made ${name}`);
    return {
      name,
      async [Symbol.asyncDispose]() {
        log.push(`disposed of ${name}`);
      },
    };
  };
  return { log, requests, context };
}

const resultsOf = (events: Parameters<typeof ofType>[0]): readonly unknown[] => ofType(events, "tool-result").map(({ output }) => output);

describe("the context of tools", () => {
  it("is made when a run starts, found by each call, and disposed of when the run ends", async () => {
    const { log, requests, context } = notingFactory();
    const agent = createAgent({
      name: "clerk",
      model: scriptedModel([look, look, "Done."]),
      tools: [lookTool],
      metadata: { user: "nobody", team: "red" },
    });
    const runner = createRunner({ agent, context });
    expect(requests).toEqual([]);
    const { events, outcome } = await watch(runner.run("go", { session: "s", metadata: { user: "ada" } }));
    expect([outcome.reason, resultsOf(events)]).toEqual(["complete", ["workspace 1 for ada", "workspace 1 for ada"]]);
    expect(requests).toMatchObject([{ session: "s", agent: "clerk", metadata: { user: "ada", team: "red" } }]);
    expect(log).toEqual(["made workspace 1", "disposed of workspace 1"]);
  });

  it("is disposed of when a run suspends, and made anew from the logged metadata when another process resumes it", async () => {
    const { log, requests, context } = notingFactory();
    const services = sharedServices();
    const asking = { ...lookTool, needsApproval: true as const };
    const agent = createAgent({ name: "clerk", model: scriptedModel([look, "Done."]), tools: [asking] });
    const first = await createRunner({ ...services, agent, context }).run("go", { session: "s", metadata: { user: "ada" } }).outcome;
    expect([first.reason, log]).toEqual(["awaiting-approval", ["made workspace 1", "disposed of workspace 1"]]);
    const later = createRunner({ ...services, agent, context });
    const [question] = await later.approvals.list();
    await later.approve(question?.token ?? "", { type: "allow" });
    const { events, outcome } = await watch(await later.resume("s"));
    expect([outcome.reason, resultsOf(events)]).toEqual(["complete", ["workspace 2 for ada"]]);
    expect(requests.map(({ metadata }) => metadata)).toEqual([{ user: "ada" }, { user: "ada" }]);
    expect(log.slice(2)).toEqual(["made workspace 2", "disposed of workspace 2"]);
  });

  it("is made by each advance of an engine", async () => {
    const { log, context } = notingFactory();
    const agent = createAgent({ name: "clerk", model: scriptedModel([look, look, "Done."]), tools: [lookTool] });
    const runner = createRunner({ ...sharedServices(), agent, context });
    await runner.begin("s", "go", { metadata: { user: "ada" } });
    let advances = 0;
    for (let next = "now"; next === "now"; advances++) next = (await runner.advance("s")).next.type;
    expect(log).toHaveLength(2 * advances);
    expect(log.filter((line) => line.startsWith("made"))).toHaveLength(advances);
    expect(log.at(-1)).toMatch(/^disposed/);
  });

  it("is inherited by children in the same process, with the metadata, and disposed of once", async () => {
    const { log, requests, context } = notingFactory();
    const child = createAgent({ name: "child", model: scriptedModel([look, "Seen."]), tools: [lookTool] });
    const agent = createAgent({
      name: "clerk",
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { task: "look" } }] }, "Done."]),
      agents: { child },
    });
    const { events, outcome } = await watch(createRunner({ agent, context }).run("go", { metadata: { user: "ada" } }));
    expect([outcome.reason, requests.length, log]).toEqual(["complete", 1, ["made workspace 1", "disposed of workspace 1"]]);
    expect(JSON.stringify(events)).toContain("workspace 1 for ada");
  });

  it("of an agent with a context of its own starts from the one that it would inherit", async () => {
    const { log, context } = notingFactory();
    const child = createAgent({
      name: "child",
      model: scriptedModel([look, "Seen."]),
      tools: [lookTool],
      context: ({ inherited }: { readonly inherited: Workspace }) => ({
        name: `a copy of ${inherited.name}`,
        [Symbol.dispose]: () => void log.push("disposed of the copy"),
      }),
    });
    const agent = createAgent({
      name: "clerk",
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { task: "look" } }] }, look, "Done."]),
      tools: [lookTool],
      agents: { child },
    });
    const { events } = await watch(createRunner({ agent, context }).run("go", { metadata: { user: "ada" } }));
    expect(JSON.stringify(events)).toContain("a copy of workspace 1 for ada");
    expect(resultsOf(events).at(-1)).toBe("workspace 1 for ada");
    expect(log).toEqual(["made workspace 1", "disposed of the copy", "disposed of workspace 1"]);
  });

  it("reaches effectsOf, needsApproval and hooks", async () => {
    const seen: unknown[] = [];
    const { context } = notingFactory();
    const note = (what: string, found: unknown): undefined => void seen.push([what, (found as Workspace | undefined)?.name]);
    const tool = defineTool.for<Workspace>()({
      name: "look",
      description: "",
      effect: "read",
      input: { type: "object" },
      effectsOf(_input, where) {
        note("effectsOf", where.context);
        return {};
      },
      needsApproval(_input, call) {
        note("needsApproval", call.context);
        return false;
      },
      execute: (_input, call) => call.context.name,
    });
    const hooks = createHookRegistry()
      .onPreToolUse("*", (_payload, found) => note("pre-tool-use", found.context))
      .onSessionStart((_payload, found) => note("session-start", found.context));
    const agent = createAgent({ name: "clerk", model: scriptedModel([look, "Done."]), tools: [tool], hooks });
    await createRunner({ agent, context }).run("go").outcome;
    expect(new Set(seen.map((entry) => JSON.stringify(entry)))).toEqual(
      new Set(["effectsOf", "needsApproval", "pre-tool-use", "session-start"].map((what) => JSON.stringify([what, "workspace 1"]))),
    );
  });

  it("ends the run before any model is asked if it cannot be made", async () => {
    const model = scriptedModel([look, "Done."]);
    const agent = createAgent({ name: "clerk", model, tools: [lookTool] });
    const runner = createRunner({
      agent,
      context: (): Workspace => {
        throw new Error("no folder");
      },
    });
    const { reason, error } = await runner.run("go").outcome;
    expect([reason, model.requests.length]).toEqual(["error", 0]);
    expect(error?.message).toBe('The context of agent "clerk" could not be made: no folder');
  });

  it("that cannot be disposed of is a warning, and the run ends as it would", async () => {
    const agent = createAgent({ name: "clerk", model: scriptedModel([look, "Done."]), tools: [lookTool] });
    const context = (): Workspace & Disposable => ({
      name: "w",
      [Symbol.dispose]() {
        throw new Error("locked");
      },
    });
    const { events, outcome } = await watch(createRunner({ agent, context }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "status").map(({ status }) => status)).toContain(
      "The context of the run's tools could not be disposed of: locked",
    );
  });

  it("that is missing is an error which names the tool and the option", async () => {
    const child = createAgent({ name: "child", model: scriptedModel([]), tools: [lookTool] });
    const agent = createAgent({ name: "clerk", model: scriptedModel([]), agents: { child } });
    expect(() => createRunner({ agent } as never)).toThrow(
      new AgentError({
        kind: "invalid-option",
        option: "context",
        message:
          'context is missing: the tool "look" of agent "child" needs one. Make it for each run: createRunner({ agent, context: ({ session, metadata }) => … }).',
      }),
    );
    const loop = { context: new Context(), provider: scriptedModel([]), tools: [lookTool] };
    await expect(reactLoop(loop as never)).rejects.toThrow('toolContext is missing: the tool "look" needs one.');
    await expect(lookTool.execute({}, createToolCall() as never)).rejects.toThrow(/The tool "look" was called without its context/);
  });

  it("of a loop without a runner is the value that the caller gives", async () => {
    const context = new Context();
    await context.injectMessage(textMessage("user", "go"));
    const seen: unknown[] = [];
    await reactLoop({
      context,
      provider: scriptedModel([look, "Done."]),
      tools: [lookTool],
      toolContext: { name: "w" },
      onEvent: (event) => void (event.type === "tool-result" && seen.push(event.output)),
    });
    expect(seen).toEqual(["w for undefined"]);
  });

  it("of a child that works apart from its parent is made from the same metadata, through the contexts of the agents above it", async () => {
    const made: (readonly [string, JsonObject, string | undefined])[] = [];
    const services = sharedServices();
    const child = createAgent({
      name: "child",
      model: scriptedModel([look, "Seen."]),
      tools: [{ ...lookTool, needsApproval: true as const }],
    });
    const agent = createAgent({
      name: "clerk",
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { task: "look" } }] }, "Done."]),
      agents: { child },
      context: ({ inherited }: { readonly inherited: Workspace }) => ({ name: `the clerk's ${inherited.name}` }),
    });
    const context = ({ agent: name, metadata, parent }: ContextRequest): Workspace => {
      const { input: _arguments, ...rest } = metadata;
      made.push([name, rest, parent?.session]);
      return { name: "workspace" };
    };
    const runner = createRunner({ ...services, agent, context });
    await runner.run("go", { session: "s", metadata: { user: "ada" } }).outcome;
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "allow" });
    const { events } = await watch(await createRunner({ ...services, agent, context }).resume(question?.session ?? ""));
    expect(resultsOf(events)).toEqual(["the clerk's workspace for ada"]);
    expect(made).toEqual([
      ["clerk", { user: "ada" }, undefined],
      ["clerk", { user: "ada" }, undefined],
    ]);
  });
});
