import { createAgent, createRunner, defineTool } from "keelson";
import { createMcpServer } from "keelson/mcp";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { connect, ERAS } from "./connect.ts";

interface Told {
  readonly session: string;
  readonly reason: string;
  readonly text: string;
  readonly output?: unknown;
  readonly waits?: readonly unknown[];
}

/** A desk that may refund only what somebody allowed. */
function refundDesk() {
  const refunded: unknown[] = [];
  const refund = defineTool({
    name: "refund",
    description: "Refunds an order.",
    input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
    execute: ({ order }) => {
      refunded.push(order);
      return "refunded";
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "refund", input: { order: "7" } }] }, "It is done.", "As I said."]);
  const agent = createAgent({
    name: "desk",
    description: "Refunds orders.",
    model,
    tools: [refund],
    permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
  });
  const runner = createRunner({ agent, log: createMemoryEventLog() });
  const server = createMcpServer({ name: "desk", version: "1.0.0", agents: [agent], runner, sessions: runner.sessions });
  return { runner, server, refunded };
}

describe.each(ERAS)("in the %s era", (era) => {
  it("runs an agent as a tool: a task in, its output out, with what it does as progress", async () => {
    const look = defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "rain" });
    const model = scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, '{"sky":"rain"}']);
    const output = { type: "object", properties: { sky: { type: "string" } }, required: ["sky"] } as const;
    const agent = createAgent({ name: "guide", description: "Knows the weather.", model, tools: [look], output });
    const server = createMcpServer({ name: "guide", version: "1.0.0", agents: [agent], runner: createRunner({ agent }) });
    await using connected = await connect(server, { era });
    const { tools } = await connected.client.listTools();
    expect(tools).toMatchObject([
      {
        name: "guide",
        description: "Knows the weather.",
        outputSchema: { properties: { output: { properties: { sky: { type: "string" } } } } },
      },
    ]);
    const progress: (string | undefined)[] = [];
    const result = await connected.client.callTool({ name: "guide", arguments: { task: "How is the sky?" } }, {
      onprogress: ({ message }: { message?: string }) => progress.push(message),
    } as never);
    expect(result.isError).not.toBe(true);
    expect(result.structuredContent).toMatchObject({ reason: "complete", output: { sky: "rain" } });
    expect(result._meta).toMatchObject({ "keelson/session": (result.structuredContent as unknown as Told).session });
    expect(progress).toEqual(["turn 1", "calls look", "turn 2"]);
  });

  it("tells the client of an agent that ended without an output, as an error", async () => {
    const look = defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "rain" });
    const model = scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "", " "]);
    const agent = createAgent({ name: "guide", description: "Knows the weather.", model, tools: [look] });
    const server = createMcpServer({ name: "guide", version: "1.0.0", agents: [agent], runner: createRunner({ agent }) });
    await using connected = await connect(server, { era });
    const result = await connected.client.callTool({ name: "guide", arguments: { task: "How is the sky?" } });
    expect(result.isError).toBe(true);
    expect(result.content).toMatchObject([{ type: "text", text: expect.stringMatching(/ended without an output \(no-action\)/) }]);
  });

  it("has the person at the client decide what the run asks about", async () => {
    const { server, refunded } = refundDesk();
    await using connected = await connect(server, { era, answer: () => ({ action: "accept", content: { decision: "allow" } }) });
    const result = await connected.client.callTool({ name: "desk", arguments: { task: "Refund order 7." } });
    expect(result.structuredContent).toMatchObject({ reason: "complete", text: "It is done." });
    expect(connected.asked).toEqual([expect.stringMatching(/May refund be called\?[^]*"order":"7"/)]);
    expect(refunded).toEqual(["7"]);
  });

  it("does not do what the person declines", async () => {
    const { server, refunded } = refundDesk();
    await using connected = await connect(server, { era, answer: () => ({ action: "decline" }) });
    const result = await connected.client.callTool({ name: "desk", arguments: { task: "Refund order 7." } });
    expect(result.structuredContent).toMatchObject({ reason: "complete" });
    expect(refunded).toEqual([]);
  });

  it("passes on what a tool of the agent asks, as a form with its schema, and goes on with what the person says", async () => {
    const schema = { type: "object", properties: { hour: { type: "integer" } }, required: ["hour"] };
    const book = defineTool({
      name: "book",
      description: "Books a table.",
      effect: "read",
      input: { type: "object" },
      execute: async (_input, { ask }) => (await ask?.({ message: "When?", from: "the restaurant", schema })) as never,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: "book", input: {} }] },
      (request) => JSON.stringify(request.messages.at(-1)?.content),
    ]);
    const agent = createAgent({ name: "waiter", description: "Books.", model, tools: [book] });
    const server = createMcpServer({ name: "waiter", version: "1.0.0", agents: [agent], runner: createRunner({ agent }) });
    await using connected = await connect(server, { era, answer: () => ({ action: "accept", content: { hour: 7 } }) });
    const result = await connected.client.callTool({ name: "waiter", arguments: { task: "Book." } });
    expect(connected.asked).toEqual([expect.stringMatching(/the restaurant asks: When\?/)]);
    expect(result.structuredContent).toMatchObject({ reason: "complete", text: expect.stringContaining('"hour":7') });
  });

  it("suspends where the client can't be asked, says how to go on, and gives no token away", async () => {
    const { server, runner, refunded } = refundDesk();
    await using connected = await connect(server, { era });
    const first = await connected.client.callTool({ name: "desk", arguments: { task: "Refund order 7." } });
    const told = first.structuredContent as unknown as Told;
    expect(told).toMatchObject({ reason: "awaiting-approval", waits: [{ type: "approval", operation: "refund", input: { order: "7" } }] });
    expect(first.content).toMatchObject([{ text: expect.stringContaining(`the session ${JSON.stringify(told.session)} and no task`) }]);
    const [question] = await runner.approvals.list();
    expect(JSON.stringify(first)).not.toContain(question?.token ?? "?");
    await runner.approve(question?.token ?? "", { type: "allow" });
    const second = await connected.client.callTool({ name: "desk", arguments: { session: told.session } });
    expect(second.structuredContent).toMatchObject({ session: told.session, reason: "complete", text: "It is done." });
    expect(refunded).toEqual(["7"]);
    const third = await connected.client.callTool({ name: "desk", arguments: { session: told.session, task: "Sure?" } });
    expect(third.structuredContent).toMatchObject({ session: told.session, reason: "complete", text: "As I said." });
  });

  it("stops the run gracefully when the client cancels the call, and keeps its session", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const hold = defineTool({
      name: "hold",
      description: "Waits.",
      effect: "read",
      input: { type: "object" },
      async execute(_input, { stopping }) {
        begin();
        await new Promise((go) => stopping.addEventListener("abort", go, { once: true }));
        return "told to stop";
      },
    });
    const agent = createAgent({
      name: "slow",
      model: scriptedModel([{ toolCalls: [{ name: "hold", input: {} }] }, "never"]),
      tools: [hold],
    });
    const runner = createRunner({ agent });
    const server = createMcpServer({ name: "slow", version: "1.0.0", agents: [agent], runner });
    await using connected = await connect(server, { era });
    const cancel = new AbortController();
    const call = connected.client.callTool({ name: "slow", arguments: { task: "Wait." } }, { signal: cancel.signal } as never);
    await begun;
    cancel.abort();
    await expect(call).rejects.toThrow();
    let ended = (await runner.sessions.list())[0];
    while (ended?.state !== "ended") {
      await new Promise((resolve) => setImmediate(resolve));
      [ended] = await runner.sessions.list();
    }
    expect(ended.reason).toBe("stopped");
  });

  it("shows sessions as resources, as Markdown and as JSON", async () => {
    const { server } = refundDesk();
    await using connected = await connect(server, { era, answer: () => ({ action: "accept", content: { decision: "allow" } }) });
    await connected.client.callTool({ name: "desk", arguments: { task: "Refund order 7." } });
    const { resources } = await connected.client.listResources();
    expect(resources).toMatchObject([{ mimeType: "text/markdown", description: expect.stringContaining("desk") }]);
    const uri = resources[0]?.uri ?? "";
    const markdown = await connected.client.readResource({ uri });
    expect(markdown.contents).toMatchObject([
      { uri, text: expect.stringMatching(/## user\n\nRefund order 7\.[^]*Calls `refund`[^]*It is done\./) },
    ]);
    const json = await connected.client.readResource({ uri: `${uri}/json` });
    const [content] = json.contents;
    expect(JSON.parse(content !== undefined && "text" in content ? content.text : "")).toMatchObject({ run: { status: "ended" } });
    await expect(connected.client.readResource({ uri: "keelson://sessions/none" })).rejects.toThrow(/no resource/);
  });

  it("keeps the sessions of one client from another", async () => {
    const { server } = refundDesk();
    const authenticate = (token: string) => ({ id: token });
    await using ada = await connect(server, { era, token: "ada", http: { authenticate } });
    const told = (await ada.client.callTool({ name: "desk", arguments: { task: "Refund order 7." } })).structuredContent as unknown as Told;
    await using bob = await connect(server, { era, token: "bob", http: { authenticate } });
    expect((await bob.client.listResources()).resources).toEqual([]);
    await expect(bob.client.readResource({ uri: `keelson://sessions/${told.session}` })).rejects.toThrow(/no resource/);
    const refused = await bob.client.callTool({ name: "desk", arguments: { session: told.session } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("There is no session") }] });
    expect((await ada.client.listResources()).resources).toHaveLength(1);
  });
});

it("refuses agents that nothing runs, and two tools of one name", () => {
  const agent = createAgent({ name: "a", model: scriptedModel([]) });
  expect(() => createMcpServer({ name: "s", version: "1", agents: [agent] })).toThrow(/runner is missing/);
  const runner = createRunner({ agent });
  expect(() => createMcpServer({ name: "s", version: "1", agents: [agent, agent], runner })).toThrow(/two tools of the name "a"/);
  expect(() => createMcpServer({ name: "s", version: "1", tools: [agent.asTool()] })).toThrow(/offer its agent in `agents`/);
});
