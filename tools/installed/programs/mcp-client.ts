// Calls a tool of a server process, as a client and from an agent.
import { equal, ok } from "node:assert/strict";
import { createAgent, createRunner } from "keelson";
import { createMcpManager } from "keelson/mcp";
import { scriptedModel } from "keelson/testing";

const args = [new URL("mcp-server.mjs", import.meta.url).pathname];
const servers = createMcpManager({ servers: { notes: { type: "stdio", command: process.execPath, args, required: true } } });
const { content } = await servers.callTool("notes", "list");
equal(JSON.stringify(content), '[{"type":"text","text":"Buy milk"}]');
const agent = createAgent({
  name: "keeper",
  model: scriptedModel([{ toolCalls: [{ name: "mcp__notes__list", input: {} }] }, "Buy milk."]),
  toolSources: [servers.toolSource({ startupWaitMs: 20_000 })],
  permissions: { rules: [{ pattern: "mcp__notes__list", behavior: "allow" }] },
});
const events: unknown[] = [];
const run = createRunner({ agent }).run("What is there to do?");
for await (const event of run) events.push(event);
const { reason, text } = await run.outcome;
equal(reason, "complete");
equal(text, "Buy milk.");
ok(JSON.stringify(events).includes("Buy milk"), "the result of the tool is among the events");
await servers[Symbol.asyncDispose]();
