// Tools of servers of the Model Context Protocol: called by a program, and given to agents.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { scriptedModel } from "keelson/testing";

const args = ["--conditions=source", fileURLToPath(new URL("notes-server.ts", import.meta.url))];

// #region smallest
import { createMcpManager } from "keelson/mcp";

await using servers = createMcpManager({ servers: { notes: { type: "stdio", command: process.execPath, args } } });
const { content } = await servers.callTool("notes", "list");
console.log(content); // [{ type: "text", text: "Buy milk" }]
// #endregion
assert.deepEqual(content, [{ type: "text", text: "Buy milk" }]);

const model = scriptedModel([{ toolCalls: [{ name: "mcp__notes__list" }] }, "Buy milk."]);

// #region agent
import { createAgent, createRunner } from "keelson";

const agent = createAgent({
  name: "keeper",
  model,
  toolSources: [servers.toolSource({ startupWaitMs: 10_000, resources: true })],
  permissions: { rules: [{ pattern: "mcp__notes__list", behavior: "allow" }] },
});
const { text } = await createRunner({ agent }).run("What is there to do?").outcome;
console.log(text); // Buy milk.
// #endregion
assert.equal(text, "Buy milk.");
assert.ok(JSON.stringify(model.requests[1]?.messages).includes('"Buy milk"'));

// #region status
for (const { name, state, callsSucceeded } of servers.allStatus()) console.log(name, state, callsSucceeded); // notes connected 2
const stop = servers.monitor(30_000); // asks every so often whether they answer
// #endregion
stop();
assert.deepEqual(
  servers.allStatus().map(({ state, callsSucceeded }) => [state, callsSucceeded]),
  [["connected", 2]],
);

// #region elicitation
await using asking = createMcpManager({
  servers: { notes: { type: "stdio", command: process.execPath, args } },
  onElicitation: ({ requestId, message }) =>
    message.startsWith("Throw") ? { type: "provided", requestId, value: {} } : { type: "cancelled", requestId },
});
const gone = await asking.callTool("notes", "throw_away", { name: "milk" });
// #endregion
assert.deepEqual(gone.content, [{ type: "text", text: "Gone." }]);

// #region resources
const notes = servers.transport("notes");
const [milk] = await notes.readResource("note://milk");
console.log(milk?.text, (await notes.listPrompts()).length); // Buy milk 0
// #endregion
assert.equal(milk?.text, "Buy milk");
