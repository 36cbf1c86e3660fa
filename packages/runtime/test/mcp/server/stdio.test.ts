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
