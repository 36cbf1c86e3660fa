import { createMcpServer, mcpRequest } from "keelson/mcp";
import { defineTool, type Tool, type ToolCall } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { connect, ERAS } from "./connect.ts";

const object = (properties: object = {}, required: readonly string[] = Object.keys(properties)) =>
  JSON.parse(JSON.stringify({ type: "object", properties, required }));

function tool(name: string, execute: (input: never, call: ToolCall) => unknown, more: Partial<Tool> & { output?: object } = {}): Tool {
  return defineTool({ name, description: `Does ${name}.`, effect: "read", input: object(), ...more, execute: execute as never } as never);
}

const serve = (...tools: readonly Tool[]) => createMcpServer({ name: "test", version: "1.0.0", tools });

describe.each(ERAS)("in the %s era", (era) => {
  it("lists tools with their schemas, and says of their effect and risk what clients ask people by [EF-03]", async () => {
    const server = serve(
      tool("look", () => "seen", { output: object({ sky: { type: "string" } }) }),
      tool("tidy", () => "done", { effect: "idempotent", risk: "low" }),
      tool("wipe", () => "gone", { effect: "write", risk: "high" }),
    );
    await using connected = await connect(server, { era });
    const { tools } = await connected.client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["look", "Does look."],
      ["tidy", "Does tidy."],
      ["wipe", "Does wipe."],
    ]);
    expect(tools[0]?.outputSchema).toMatchObject({ type: "object", properties: { sky: { type: "string" } } });
    expect(tools.map(({ annotations }) => annotations)).toEqual([
      { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    ]);
  });

  it("asks the person at the client about a call that needs an approval, once, and runs it only if allowed", async () => {
    const paid: number[] = [];
    const needsApproval = ({ euros }: { readonly euros: number }): boolean => euros > 10;
    const execute = ({ euros }: { readonly euros: number }): string => (paid.push(euros), "paid");
    const pay = tool("pay", execute, { effect: "write", needsApproval, input: object({ euros: { type: "number" } }) } as object);
    const call = async (euros: number, answer?: "accept" | "decline") => {
      await using connected = await connect(serve(pay), { era, ...(answer && { answer: () => ({ action: answer, content: {} }) }) });
      const { isError = false, content } = await connected.client.callTool({ name: "pay", arguments: { euros } });
      return [isError, JSON.stringify(content), connected.asked];
    };
    expect(await call(5, "decline")).toEqual([false, expect.stringContaining("paid"), []]);
    const question = 'The tool pay needs a person\'s approval for this call. Allow pay with these arguments? {"euros":50}';
    expect(await call(50, "accept")).toEqual([false, expect.stringContaining("paid"), [question]]);
    expect(await call(50, "decline")).toEqual([true, expect.stringContaining("A person declined this call"), [question]]);
    expect(await call(50)).toEqual([true, expect.stringContaining("it did not run"), []]);
    expect(paid).toEqual([5, 50]);
  });

  it("cuts a list into pages, and refuses a cursor that is none of it", async () => {
    const names = Array.from({ length: 5 }, (_, index) => `t${index}`);
    const server = createMcpServer({ name: "test", version: "1", pageSize: 2, tools: names.map((name) => tool(name, () => name)) });
    await using connected = await connect(server, { era });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await connected.client.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } });
      expect(page.tools.length).toBeLessThanOrEqual(2);
      found.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found).toEqual(names);
    await expect(connected.client.request({ method: "tools/list", params: { cursor: "bm9uZQ" } })).rejects.toThrow(/cursor/);
  });

  it("gives values as structured content and as text, and parts as what they are", async () => {
    const server = serve(
      tool("weather", () => ({ city: "Oslo", celsius: 7 })),
      tool("picture", () => ({
        type: "content",
        content: [
          { type: "text", text: "Look:" },
          { type: "image", mediaType: "image/png", data: "aGk=" },
          { type: "file", mediaType: "audio/wav", data: "aGk=" },
          { type: "file", mediaType: "text/plain", name: "notes://one", data: "aGk=" },
          { type: "file", mediaType: "application/pdf", name: "a.pdf", url: "https://example.org/a.pdf" },
        ],
      })),
    );
    await using connected = await connect(server, { era });
    const weather = await connected.client.callTool({ name: "weather", arguments: {} });
    expect(weather.structuredContent).toEqual({ city: "Oslo", celsius: 7 });
    expect(weather.content).toEqual([{ type: "text", text: '{"city":"Oslo","celsius":7}' }]);
    const picture = await connected.client.callTool({ name: "picture", arguments: {} });
    expect(picture.content).toMatchObject([
      { type: "text", text: "Look:" },
      { type: "image", mimeType: "image/png", data: "aGk=" },
      { type: "audio", mimeType: "audio/wav", data: "aGk=" },
      { type: "resource", resource: { uri: "notes://one", mimeType: "text/plain", text: "hi" } },
      { type: "resource_link", uri: "https://example.org/a.pdf", name: "a.pdf", mimeType: "application/pdf" },
    ]);
  });

  it("tells the model of a failure and of wrong arguments as a result, and of a tool that there is not as an error", async () => {
    const server = serve(
      tool("fail", () => {
        throw new Error("the disk is full");
      }),
      tool("add", ({ a }) => a, { input: object({ a: { type: "number" } }) } as never),
    );
    await using connected = await connect(server, { era });
    const failed = await connected.client.callTool({ name: "fail", arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ type: "text", text: expect.stringContaining("the disk is full") }] });
    const refused = await connected.client.callTool({ name: "add", arguments: { a: "one" } });
    expect(refused).toMatchObject({ isError: true, content: [{ type: "text", text: expect.stringContaining("a") }] });
    await expect(connected.client.callTool({ name: "none", arguments: {} })).rejects.toThrow(/There is no tool "none"/);
  });

  it("sends progress that grows, and ends a call that the client cancels", async () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    const server = serve(
      tool("slow", async (_input, call) => {
        call.progress("begins");
        call.progress("half", 0.5);
        call.progress("back", 0.1);
        await new Promise((go) => call.signal.addEventListener("abort", go, { once: true }));
        resolve(call.signal.reason);
        return "late";
      }),
    );
    await using connected = await connect(server, { era });
    const seen: { progress: number; message?: string | undefined }[] = [];
    const cancel = new AbortController();
    const call = connected.client.callTool({ name: "slow", arguments: {} }, {
      signal: cancel.signal,
      onprogress: ({ progress, message }: { progress: number; message?: string }) => {
        seen.push({ progress, message });
        if (seen.length === 3) cancel.abort(new Error("enough"));
      },
    } as never);
    await expect(call).rejects.toThrow();
    await ended;
    expect(seen.map(({ message }) => message)).toEqual(["begins", "half", "back"]);
    expect(seen.map(({ progress }) => progress)).toEqual(seen.map(({ progress }) => progress).toSorted((a, b) => a - b));
    expect(new Set(seen.map(({ progress }) => progress)).size).toBe(3);
  });

  it("asks the person at the client, by a form and by a page, and checks the answer [MT-05]", async () => {
    const city = object({ city: { type: "string", minLength: 2 } });
    const server = serve(
      tool("travel", async (_input, call) => {
        const where = await call.ask?.({ message: "Where to?", schema: city });
        const paid = await call.ask?.({ message: "Pay.", url: "https://pay.example/1" });
        const sure = await call.ask?.({ message: "Sure?" });
        const many = await call.ask?.({ message: "How many?", schema: { type: "integer" } });
        return { where, paid, sure, many } as never;
      }),
    );
    const answers = [{ city: "O" }, { city: "Oslo" }, {}, {}, { value: 2 }];
    await using connected = await connect(server, { era, answer: () => ({ action: "accept", content: answers.shift() ?? {} }) });
    const result = await connected.client.callTool({ name: "travel", arguments: {} });
    expect(connected.asked).toEqual(["Where to?", "Where to?", "Pay.", "Sure?", "How many?"]);
    expect(result.structuredContent).toEqual({
      where: { type: "provided", value: { city: "Oslo" } },
      paid: { type: "provided", value: true },
      sure: { type: "provided", value: true },
      many: { type: "provided", value: 2 },
    });
  });

  it("says why a question was not asked, and tells a refusal from a closed question [MT-06, MT-07]", async () => {
    const server = serve(
      tool("ask", async (_input, call) => {
        const asked = await call.ask?.({ message: "Well?" });
        const deep = await call.ask?.({ message: "Deep?", schema: object({ inner: { type: "object" } }) });
        return { asked, deep, inferred: await call.infer?.({ messages: [], maxTokens: 1 }) } as never;
      }),
    );
    await using mute = await connect(server, { era });
    const unasked = await mute.client.callTool({ name: "ask", arguments: {} });
    expect(unasked.structuredContent).toEqual({
      asked: { type: "cancelled", reason: expect.stringContaining("can't ask a person") },
      deep: { type: "cancelled", reason: expect.stringContaining("can't ask a person") },
      inferred: { type: "refused", reason: expect.stringContaining("model") },
    });
    await using speaking = await connect(server, { era, answer: () => ({ action: "decline" }) });
    const declined = await speaking.client.callTool({ name: "ask", arguments: {} });
    expect(declined.structuredContent).toMatchObject({ asked: { type: "declined" }, deep: { reason: expect.stringContaining("plain") } });
  });

  it("asks the model of the client", async () => {
    const server = serve(
      tool("rhyme", async (_input, call) => {
        const messages = [{ role: "user", content: [{ type: "text", text: "What rhymes with house?" }] }] as const;
        const answer = await call.infer?.({ messages, maxTokens: 10 });
        return answer?.type === "response" ? (answer.content[0] as { text: string }).text : "nothing";
      }),
    );
    await using connected = await connect(server, { era, model: (prompt) => `${prompt} Mouse.` });
    const result = await connected.client.callTool({ name: "rhyme", arguments: {} });
    expect(result.content).toEqual([{ type: "text", text: "What rhymes with house? Mouse." }]);
  });

  it("runs a write once, however often it asks, and a read from its start where the request ends with the question", async () => {
    const begun: string[] = [];
    const asking = (name: string, effect: "read" | "write") =>
      tool(
        name,
        async (_input, call) => {
          begun.push(name);
          const first = await call.ask?.({ message: "One?" });
          const second = await call.ask?.({ message: "Two?" });
          return `${first?.type} ${second?.type}`;
        },
        { effect },
      );
    await using connected = await connect(serve(asking("send", "write"), asking("look", "read")), {
      era,
      answer: () => ({ action: "accept", content: {} }),
    });
    for (const name of ["send", "look"]) {
      const result = await connected.client.callTool({ name, arguments: {} });
      expect(result.content).toEqual([{ type: "text", text: "provided provided" }]);
    }
    expect(begun).toEqual(era === "handshake" ? ["send", "look"] : ["send", "look", "look", "look"]);
    expect(connected.asked).toEqual(["One?", "Two?", "One?", "Two?"]);
  });

  it("does not take more calls at once than it was told to", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const hold = tool("hold", async () => {
      begin();
      await open;
      return "held";
    });
    const server = createMcpServer({ name: "test", version: "1", tools: [hold], maxConcurrentCalls: 1 });
    await using connected = await connect(server, { era });
    const first = connected.client.callTool({ name: "hold", arguments: {} });
    await begun;
    const second = await connected.client.callTool({ name: "hold", arguments: {} });
    expect(second).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("as many calls at work") }] });
    resolve();
    expect(await first).toMatchObject({ content: [{ text: "held" }] });
  });

  it("tells a tool whose call it is", async () => {
    const server = serve(
      tool("who", (_input, call) => {
        const request = mcpRequest(call);
        return { era: request?.era, client: request?.client?.name, method: request?.method, meta: request?.meta["trace"] } as never;
      }),
    );
    await using connected = await connect(server, { era });
    const result = await connected.client.callTool({ name: "who", arguments: {}, _meta: { trace: "t1" } });
    expect(result.structuredContent).toEqual({ era, client: "test-client", method: "tools/call", meta: "t1" });
  });
});

it("tells a client of the handshake era that the list of tools changed", async () => {
  const server = serve(tool("one", () => 1));
  await using connected = await connect(server, { era: "handshake" });
  let told = 0;
  connected.client.setNotificationHandler("notifications/tools/list_changed", () => void (told += 1));
  // The stream for notifications is opened by the client when it is connected, and is there some requests later.
  for (let name = 0; told === 0; name += 1) {
    server.setTools([tool(`tool-${name}`, () => name)]);
    expect((await connected.client.listTools()).tools.map(({ name }) => name)).toEqual([`tool-${name}`]);
  }
});

it("is no request of a client where a tool is called another way", () => {
  expect(mcpRequest({} as ToolCall)).toBeUndefined();
});
