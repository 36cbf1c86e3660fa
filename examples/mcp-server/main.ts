// Offers a tool and an agent over HTTP, and uses both as a client does: the person at the client decides what the agent asks about.
import assert from "node:assert/strict";
import { createMcpManager } from "keelson/mcp";

// #region tools
import { defineTool } from "keelson";
import { createMcpServer } from "keelson/mcp";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city, now.",
  effect: "read",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => ({ city, sky: "rain", celsius: 7 }),
});

const server = createMcpServer({ name: "weather", version: "1.0.0", tools: [weather] });
// #endregion

// #region agent
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";

const refunded: string[] = [];
const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  execute({ order }) {
    refunded.push(String(order));
    return "refunded";
  },
});
const desk = createAgent({
  name: "refund-desk",
  description: "Refunds orders that deserve it.",
  model: scriptedModel([{ toolCalls: [{ name: "refund", input: { order: "7" } }] }, "Order 7 is refunded."]),
  tools: [refund],
  permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
});
const runner = createRunner({ agent: desk });
const office = createMcpServer({ name: "office", version: "1.0.0", agents: [desk], runner, sessions: runner.sessions });
// #endregion

// #region http
import { serveMcpHttp } from "keelson/mcp";

const token = process.env["OFFICE_TOKEN"] ?? crypto.randomUUID();
const http = await serveMcpHttp(office, { port: 0, authenticate: token });
console.log(http.url);
// #endregion

// #region asking
import { mcpRequest } from "keelson/mcp";

const book = defineTool({
  name: "book",
  description: "Books a table.",
  input: { type: "object", properties: { guests: { type: "integer" } }, required: ["guests"] },
  async execute({ guests }, call) {
    call.progress("looks for a table", 0.5);
    const answer = await call.ask?.({
      message: `A table for ${String(guests)} at eight?`,
      schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    if (answer?.type !== "provided") return "Nothing was booked.";
    mcpRequest(call)?.log("info", "a table was booked");
    return { booked: true, by: answer.value };
  },
});
// #endregion
server.setTools([weather, book]);

await using restaurant = await serveMcpHttp(server);
const questions: string[] = [];
await using servers = createMcpManager({
  servers: {
    restaurant: { type: "http", url: restaurant.url },
    office: { type: "http", url: http.url, authToken: token },
  },
  onElicitation({ requestId, message }) {
    questions.push(message);
    const value = message.startsWith("A table") ? { name: "Ada" } : { decision: "allow" };
    return { type: "provided", requestId, value };
  },
});
await servers.startAll();

const sky = await servers.callTool("restaurant", "weather", { city: "Oslo" });
console.log(sky);
const booked = await servers.callTool("restaurant", "book", { guests: 4 });
console.log(booked);
assert.match(JSON.stringify(booked), /Ada/);

const result = await servers.callTool("office", "refund-desk", { task: "Refund order 7." });
console.log(result);
assert.match(JSON.stringify(result), /Order 7 is refunded/);
assert.deepEqual(refunded, ["7"]);
assert.match(questions.at(-1) ?? "", /May refund be called/);

const sessions = await servers.transport("office").listResources();
console.log(sessions);
await http.close();
