import { createAgent, createRunner, defineTool, type InferRequest, type Tool } from "keelson";
import { ruleBefore, type Xray } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { growingSource } from "./growing-source.ts";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

const names = ({ tools }: InferRequest): readonly string[] => (tools ?? []).map(({ name }) => name);
const call = (name: string, input = {}): ScriptedTurn => ({ toolCalls: [{ name, input }] });
const THINGS = ["issue", "label", "branch", "release", "comment", "milestone", "runner", "secret", "webhook", "page"];
const ACTS = ["create", "list", "update", "delete", "lock", "move", "find", "count", "watch", "share"];

/** Tools as those of a large server: each with some parameters that are described. */
function manyTools(count: number): { readonly tools: readonly Tool[]; readonly ran: string[] } {
  const ran: string[] = [];
  const tools = Array.from({ length: count }, (_, index) => {
    const act = ACTS[index % 10] as string;
    const thing = THINGS[Math.floor(index / 10) % 10] as string;
    const name = `${act}_${thing}${index < 100 ? "" : "_2"}`;
    return defineTool({
      name,
      description: `Can ${act} a ${thing} of a project.\nThe project is named by its owner and its name, as in the address of its page; who may not see it gets an error.`,
      effect: "read",
      input: {
        type: "object",
        properties: {
          owner: { type: "string", description: "Who the project belongs to: a person or an organisation, by the name in its address." },
          project: { type: "string", description: "The name of the project, without that of its owner." },
          [thing]: { type: "string", description: `Which ${thing} is meant, by its number or its title where there is only one of it.` },
          page: { type: "integer", description: "Which page of the results, from 1. A page has 30 of them." },
        },
        required: ["owner", "project"],
      },
      execute: () => (ran.push(name), `${name} done`),
    });
  });
  return { tools, ran };
}

describe("many tools of sources", () => {
  it("are told by name, found by words, and among the tools of the requests from then on, also in a later run", async () => {
    const services = sharedServices();
    const { tools, ran } = manyTools(60);
    const model = scriptedModel([
      call("search_tools", { query: "create an issue" }),
      call("create_issue", { owner: "ann", project: "x" }),
      "done",
      "again",
    ]);
    const own = defineTool({ name: "own", description: "Own.", effect: "read", input: { type: "object" }, execute: () => "" });
    const agent = createAgent({ name: "a", model, tools: [own], toolSources: [growingSource(tools)] });
    const { events } = await watch(runnerOf(agent, services).run("go", { session: "s" }));
    await runnerOf(agent, services).run("again", { session: "s" }).outcome;
    const [first, second, third, later] = model.requests.map(names);
    expect(first).toEqual(["own", "search_tools"]);
    expect(second).toContain("create_issue");
    expect(second?.length).toBeLessThan(12);
    expect([third, later]).toEqual([second, second]);
    expect(ran).toEqual(["create_issue"]);
    const list = model.requests[0]?.tools?.find(({ name }) => name === "search_tools")?.description;
    expect(list).toContain("create_issue: Can create a issue of a project.");
    expect(list).not.toContain("who may not see it");
    const [found] = ofType(events, "tool-result");
    expect((found?.output as { readonly tools: readonly object[] }).tools[0]).toEqual({
      name: "create_issue",
      description: tools[0]?.description,
      inputSchema: tools[0]?.inputSchema,
    });
  });

  it("can be called by name at once, and answer a call that does not fit with their schema", async () => {
    const { tools, ran } = manyTools(60);
    const model = scriptedModel([
      call("list_issue", { owner: "ann", project: "x" }),
      call("find_label", { owner: "ann" }),
      call("find_label", { owner: "ann", project: "x" }),
      "done",
    ]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, toolSources: [growingSource(tools)] })).run("go"));
    expect(ran).toEqual(["list_issue", "find_label"]);
    expect(model.requests.map((request) => names(request).length)).toEqual([1, 1, 2, 2]);
    expect(ofType(events, "tool-result")[1]).toMatchObject({ isError: true, output: expect.stringContaining('"Which label is meant') });
  });

  it("say where nothing fits, and are found by their exact names whatever else there is", async () => {
    const { tools } = manyTools(60);
    const model = scriptedModel([
      call("search_tools", { query: "zeppelin" }),
      call("search_tools", { query: "count_release watch_branch" }),
      call("search_tools", { query: " " }),
      "done",
    ]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, toolSources: [growingSource(tools)] })).run("go"));
    const [none, both, empty] = ofType(events, "tool-result");
    expect(none).toMatchObject({ isError: true, output: expect.stringContaining('No tool fits "zeppelin"') });
    expect((both?.output as { readonly tools: readonly { readonly name: string }[] }).tools.slice(0, 2).map(({ name }) => name)).toEqual([
      "count_release",
      "watch_branch",
    ]);
    expect(empty).toMatchObject({ isError: true });
  });

  it("save most of what 200 of them would take of each request, which is told and in the x-ray", async () => {
    const { tools } = manyTools(200);
    const seen: Xray[] = [];
    const look = ruleBefore("infer", "look", 0, async ({ context }) => {
      seen.push(await context.xray());
    });
    const agentWith = (deferTools?: false) =>
      createAgent({
        name: "a",
        model: scriptedModel(["done"]),
        rules: [look],
        toolSources: [growingSource(tools)],
        ...(deferTools === false && { deferTools }),
      });
    const runner = createRunner({ agent: agentWith() });
    const { events } = await watch(runner.run("go", { session: "s" }));
    await createRunner({ agent: agentWith(false) }).run("go").outcome;
    const [deferring, whole] = seen as [Xray, Xray];
    expect(whole.deferred).toBeUndefined();
    expect(deferring.deferred?.tools).toBe(200);
    // What is said to be saved is what is saved.
    const saved = deferring.deferred?.tokens ?? 0;
    expect(Math.abs(whole.tokens - deferring.tokens - saved)).toBeLessThan(0.02 * whole.tokens);
    expect(saved).toBeGreaterThan(0.8 * whole.tokens);
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      `200 tools are told to the model by name, and search_tools gives their schemas: about ${saved} tokens less in each request.`,
    ]);
    expect((await runner.xray("s")).deferred).toEqual(deferring.deferred);
  });

  it.each([
    ["as many as fit", { deferTools: { aboveTools: 60 } }, 60],
    ["never, where that is said", { deferTools: false }, 60],
    ["more than so many", { deferTools: { aboveTools: 59 } }, 1],
    ["more than so many bytes", { deferTools: { aboveTools: 60, aboveBytes: 10_000 } }, 1],
    ["only those that the run may call count", { deferTools: { aboveTools: 1 }, allowedTools: ["list_issue"] }, 1],
    ["and the rest of them is not told of", { deferTools: { aboveTools: 0 }, allowedTools: ["list_issue"] }, 1],
  ] as const)("are told whole or by name: %s", async (_, options, told) => {
    const model = scriptedModel(["done"]);
    await runnerOf(createAgent({ name: "a", model, toolSources: [growingSource(manyTools(60).tools)], ...options })).run("go").outcome;
    expect(names(model.requests[0] as InferRequest)).toHaveLength(told);
    if ("allowedTools" in options) expect(JSON.stringify(model.requests[0]?.tools)).not.toContain("list_label");
  });

  it("can be searched for by a run that is allowed some of them, or nothing that no rule allows", async () => {
    const { tools, ran } = manyTools(60);
    const permissions = { mode: "deny-unauthorized", rules: [{ pattern: "create_*", behavior: "allow" }] } as const;
    const allowedTools = ["create_issue", "create_label"];
    const model = scriptedModel([call("search_tools", { query: "issue" }), call("create_issue", { owner: "a", project: "x" }), "done"]);
    const agent = createAgent({
      name: "a",
      model,
      toolSources: [growingSource(tools)],
      permissions,
      allowedTools,
      deferTools: { aboveTools: 1 },
    });
    await runnerOf(agent).run("go").outcome;
    expect(names(model.requests[1] as InferRequest)).toEqual(["create_issue", "search_tools"]);
    expect(ran).toEqual(["create_issue"]);
  });

  it("need the name search_tools for the tool that finds them", () => {
    const taken = { ...defineTool({ name: "search_tools", description: "", input: { type: "object" }, execute: () => "" }) };
    const define = (options: object) => () =>
      createAgent({ name: "a", model: scriptedModel([]), tools: [taken], toolSources: [growingSource()], ...options });
    expect(define({})).toThrow("rename yours with aliasTool");
    expect(define({ deferTools: false })).not.toThrow();
    expect(define({ toolSources: undefined })).not.toThrow();
  });
});
