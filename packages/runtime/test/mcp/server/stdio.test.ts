import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { createAgent, createRunner, defineTool } from "keelson";
import { createMcpServer, serveMcpStdio, type McpServer } from "keelson/mcp";
import { scriptedModel } from "keelson/testing";
import { expect, it } from "vitest";

/** A client that can say anything, right or wrong. */
async function rawClient(server: McpServer, options: { readonly maxMessageBytes?: number } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const connection = await serveMcpStdio(server, { input, output, ...options });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  let id = 0;
  return {
    connection,
    input,
    async ask(method: string, params: object = {}): Promise<{ readonly result?: unknown; readonly error?: unknown }> {
      const own = (id += 1);
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error("The connection is closed");
        const message = JSON.parse(value) as { readonly id?: number; readonly result?: unknown; readonly error?: unknown };
        if (message.id === own) return message;
      }
    },
  };
}

const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
const echo = defineTool({ name: "echo", description: "Says it again.", effect: "read", input: { type: "object" }, execute: () => "here" });
const newServer = () => createMcpServer({ name: "test", version: "1.0.0", tools: [echo] });

it("goes on after lines that are no messages", async () => {
  const client = await rawClient(newServer());
  client.input.write("garbage\n{\n[]\nnull\n42\n\u0000\n");
  expect(await client.ask("initialize", INITIALIZE)).toHaveProperty("result");
  client.input.write('{"jsonrpc":"2.0","id":"x","result":{}}\n{"jsonrpc":"1.0","id":1,"method":"tools/list"}\n{"nothing":true}\n');
  expect(await client.ask("tools/call", { name: "echo", arguments: {} })).toMatchObject({ result: { content: [{ text: "here" }] } });
  await client.connection.close();
});

it("ends a connection whose message is larger than it may be", async () => {
  const errors: string[] = [];
  const server = createMcpServer({ name: "test", version: "1", tools: [echo], onError: (error) => errors.push(error.message) });
  const client = await rawClient(server, { maxMessageBytes: 1_000 });
  expect(await client.ask("initialize", INITIALIZE)).toHaveProperty("result");
  client.input.write("x".repeat(5_000));
  await client.connection.closed;
  expect(errors).not.toEqual([]);
});

it("stops the run of a client that is gone in the middle of it", async () => {
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
  const agent = createAgent({ name: "slow", model: scriptedModel([{ toolCalls: [{ name: "hold", input: {} }] }, "never"]), tools: [hold] });
  const runner = createRunner({ agent });
  const client = await rawClient(createMcpServer({ name: "slow", version: "1", agents: [agent], runner }));
  await client.ask("initialize", INITIALIZE);
  void client.ask("tools/call", { name: "slow", arguments: { task: "Wait." } });
  await begun;
  client.input.end();
  await client.connection.closed;
  let [session] = await runner.sessions.list();
  while (session?.state !== "ended") {
    await new Promise((resolve) => setImmediate(resolve));
    [session] = await runner.sessions.list();
  }
  expect(session.reason).toBe("stopped");
});

it("ends with its server", async () => {
  const server = newServer();
  const client = await rawClient(server);
  await server.close();
  await client.connection.closed;
});

const DIGITS = "1917043659912705296";
const inputs: unknown[] = [];
const noteText = defineTool({
  name: "note",
  description: "Takes a note.",
  effect: "read",
  input: { type: "object", properties: { id: { type: ["string", "integer"] }, text: { type: "string" } } },
  execute(input) {
    inputs.push(input);
    return "taken";
  },
});

it("keeps the digits of integers in the arguments of a client, in whatever pieces its lines arrive", async () => {
  inputs.length = 0;
  const client = await rawClient(createMcpServer({ name: "test", version: "1.0.0", tools: [noteText] }));
  await client.ask("initialize", INITIALIZE);
  const line = `{"jsonrpc":"2.0","id":"own","method":"tools/call","params":{"name":"note","arguments":{"id":${DIGITS},"text":"é😀 ${DIGITS}"}}}\r\n`;
  const bytes = Buffer.from(line + line.replace('"own"', '"second"'));
  for (const byte of bytes) client.input.write(Buffer.of(byte));
  client.input.write(bytes);
  await client.ask("tools/list");
  await client.ask("tools/call", { name: "note", arguments: { id: 5 } });
  expect(inputs).toEqual([...Array.from({ length: 4 }, () => ({ id: DIGITS, text: `é😀 ${DIGITS}` })), { id: 5 }]);
  await client.connection.close();
});

it("takes a message that is nearly as large as it may be and grows by the quotes around its integers", async () => {
  inputs.length = 0;
  const client = await rawClient(createMcpServer({ name: "test", version: "1.0.0", tools: [noteText] }), { maxMessageBytes: 10_000 });
  await client.ask("initialize", INITIALIZE);
  const many = Array.from({ length: 480 }, () => DIGITS);
  client.input.write(
    `{"jsonrpc":"2.0","id":"own","method":"tools/call","params":{"name":"note","arguments":{"more":[${many.join(",")}]}}}\n`,
  );
  await client.ask("tools/list");
  await client.ask("tools/call", { name: "note", arguments: {} });
  expect(inputs[0]).toEqual({ more: many });
  await client.connection.close();
});

it("stops reading its input when it is closed, and leaves the input open", async () => {
  const input = new PassThrough();
  const connection = await serveMcpStdio(newServer(), { input, output: new PassThrough() });
  expect(input.isPaused()).toBe(false);
  await connection.close();
  expect([input.isPaused(), input.destroyed]).toEqual([true, false]);
  expect(input.listenerCount("data")).toBe(0);
});

it.each([
  ["ended", (input: PassThrough) => input.end()],
  ["was destroyed", (input: PassThrough) => input.destroy()],
  ["failed", (input: PassThrough) => input.destroy(new Error("gone"))],
])("closes the connection when its input %s, before or after it was opened", async (_, end) => {
  const input = new PassThrough();
  input.on("error", () => {});
  const connection = await serveMcpStdio(newServer(), { input, output: new PassThrough() });
  end(input);
  await connection.closed;
  await (
    await serveMcpStdio(newServer(), { input, output: new PassThrough() })
  ).closed;
  expect(input.listenerCount("data")).toBe(0);
});
