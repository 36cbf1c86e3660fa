import type { AgentEvent, JsonObject, JsonValue, Provider } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { createMcpManager } from "keelson/mcp";
import { startModelServer, type ModelServer, type ServerRequest, type ServerTurn } from "keelson/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seed } from "../../../../test/tier.ts";
import { createAnthropicProvider } from "../../src/providers/anthropic.ts";
import { createGeminiProvider } from "../../src/providers/gemini.ts";
import { createOllamaProvider } from "../../src/providers/ollama.ts";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { createOpenAiResponsesProvider } from "../../src/providers/openai-responses.ts";
import { ofType, watch } from "../agent/support.ts";
import { rawServer } from "../mcp/raw-server.ts";

const WIRES: readonly (readonly [string, (server: ModelServer) => Provider])[] = [
  ["Anthropic", ({ url }) => createAnthropicProvider({ apiKey: "k", baseUrl: url, defaultModel: "claude-sonnet-5" })],
  ["Chat Completions", ({ openAiUrl }) => createOpenAiChatProvider({ apiKey: "k", baseUrl: openAiUrl, defaultModel: "gpt-5" })],
  ["Responses", ({ openAiUrl }) => createOpenAiResponsesProvider({ apiKey: "k", baseUrl: openAiUrl, defaultModel: "gpt-5" })],
  ["Gemini", ({ url }) => createGeminiProvider({ apiKey: "k", baseUrl: url, defaultModel: "gemini-2.5-pro" })],
  ["Ollama", ({ url }) => createOllamaProvider({ baseUrl: url, defaultModel: "qwen3" })],
];

const HALF = "half \uD83D";

const statuses = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "status" && event.level === "warn" ? [event.status] : []));

/** The property keys of a tool, in a request on any wire. */
function keysOf(body: JsonValue | undefined, tool: string): readonly string[] {
  if (Array.isArray(body)) return (body as readonly JsonValue[]).flatMap((each) => keysOf(each, tool));
  if (typeof body !== "object" || body === null) return [];
  const object = body as JsonObject;
  const schema = (object["input_schema"] ?? object["parameters"]) as JsonObject | undefined;
  if (object["name"] === tool && schema !== undefined) return Object.keys(schema["properties"] as JsonObject);
  return Object.values(object).flatMap((each) => keysOf(each, tool));
}

describe.each(WIRES)("a run over %s", (_, provider) => {
  it("goes on after calls of names that its vendor refuses, and runs a known tool in disguise [PV-02]", async () => {
    const looks: unknown[] = [];
    await using server = await startModelServer([
      {
        toolCalls: [
          { name: "$READFILE", input: {} },
          { name: "functions.look", input: { at: "a" } },
          { name: "look<|channel|>commentary", input: { at: "b" } },
          { name: "multi_tool_use.parallel", input: { tool_uses: [] } },
        ],
      },
      { text: "done" },
    ]);
    const look = defineTool({
      name: "look",
      description: `Looks. ${HALF}`,
      effect: "read",
      input: { type: "object", properties: { at: { type: "string", description: HALF } } },
      execute(input) {
        looks.push(input["at"]);
        return HALF;
      },
    });
    const agent = createAgent({ name: "a", model: provider(server), instructions: HALF, tools: [look] });
    const { events, outcome } = await watch(createRunner({ agent }).run(`Look. ${HALF}`, { session: "s" }));
    expect(server.refused).toEqual([]);
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(looks).toEqual(["a", "b"]);
    const results = ofType(events, "tool-result");
    expect(results.map(({ name, isError }) => [name, isError === true])).toEqual([
      ["$READFILE", true],
      ["look", false],
      ["look", false],
      ["multi_tool_use.parallel", true],
    ]);
  });

  it("asks deny rules about the tool that a name in disguise means", async () => {
    await using server = await startModelServer([{ toolCalls: [{ name: "functions.look", input: {} }] }, { text: "done" }]);
    let looks = 0;
    const look = defineTool({
      name: "look",
      description: "Looks.",
      effect: "read",
      input: { type: "object" },
      execute: () => String(++looks),
    });
    const agent = createAgent({
      name: "a",
      model: provider(server),
      tools: [look],
      permissions: { rules: [{ pattern: "look", behavior: "deny" }] },
    });
    const { outcome } = await watch(createRunner({ agent }).run("Look.", { session: "s" }));
    expect([outcome.reason, looks, server.refused]).toEqual(["complete", 0, []]);
  });

  it("offers tools of servers with any keys and alternatives, and gives their servers the arguments they know [AG-25]", async () => {
    const calls: unknown[] = [];
    const tools = [
      {
        name: "find",
        inputSchema: {
          type: "object",
          properties: { "filter[status]": { type: "string" }, "$top": { type: "integer" } },
          required: ["$top"],
        },
      },
      {
        name: "open",
        inputSchema: {
          anyOf: [
            { type: "object", properties: { url: {} }, required: ["url"] },
            { type: "object", properties: { path: true } },
          ],
        },
      },
      { name: "list", inputSchema: { type: "object", properties: { tags: { type: "array" }, self: { $ref: "#" } } } },
    ];
    const answer = (request: ServerRequest): ServerTurn => {
      const [status, top] = keysOf(request.body, "mcp__notes__find") as [string, string];
      return { toolCalls: [{ name: "mcp__notes__find", inputText: `{"${status}":"open","${top}":3}` }] };
    };
    await using model = await startModelServer([answer, { text: "done" }]);
    await using servers = createMcpManager({
      servers: { notes: { type: "in-process", name: "notes" } },
      inProcess: { notes: rawServer(JSON.stringify(tools), undefined, (params) => void calls.push(params?.arguments)) },
    });
    const agent = createAgent({
      name: "a",
      model: provider(model),
      toolSources: [servers.toolSource({ startupWaitMs: 30_000 })],
      deferTools: false,
      permissions: { rules: [{ pattern: "mcp__notes__*", behavior: "allow" }] },
    });
    const { outcome } = await watch(createRunner({ agent }).run("Find.", { session: "s" }));
    expect(model.refused).toEqual([]);
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(calls).toEqual([{ "filter[status]": "open", "$top": 3 }]);
  });

  it("gives a tool every integer that the model sent, under the tool's own key", async () => {
    const anyInteger = fc.oneof(fc.maxSafeInteger().map(BigInt), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }));
    const sent = fc.sample(anyInteger, { numRuns: 40, seed }).map(String);
    const received: string[] = [];
    const answer = (request: ServerRequest): ServerTurn => {
      const [key] = keysOf(request.body, "note");
      return { toolCalls: sent.map((id) => ({ name: "note", inputText: `{"${key}":${id}}` })) };
    };
    await using server = await startModelServer([answer, { text: "done" }]);
    const note = defineTool({
      name: "note",
      description: "Reads a note.",
      effect: "read",
      input: { type: "object", properties: { "note[id]": { type: ["integer", "string"] } }, required: ["note[id]"] },
      execute(input) {
        received.push(String(input["note[id]"]));
        return "read";
      },
    });
    const { outcome } = await watch(
      createRunner({ agent: createAgent({ name: "a", model: provider(server), tools: [note] }) }).run("Go.", { session: "s" }),
    );
    expect([outcome.reason, server.refused]).toEqual(["complete", []]);
    expect(received.toSorted()).toEqual(sent.toSorted());
  });

  it("leaves out a tool that its vendor accepts in no form, and names the tool and its server once", async () => {
    const properties = Object.fromEntries(Array.from({ length: 9000 }, (__, at) => [`member_${at}`, { type: "string" }]));
    const tools = [
      { name: "huge", inputSchema: { type: "object", properties } },
      { name: "small", inputSchema: { type: "object" } },
    ];
    await using model = await startModelServer([{ toolCalls: [{ name: "mcp__notes__small" }] }, { text: "done" }]);
    await using servers = createMcpManager({
      servers: { notes: { type: "in-process", name: "notes" } },
      inProcess: { notes: rawServer(JSON.stringify(tools)) },
    });
    const agent = createAgent({
      name: "a",
      model: provider(model),
      toolSources: [servers.toolSource({ startupWaitMs: 30_000 })],
      deferTools: false,
      permissions: { rules: [{ pattern: "mcp__notes__*", behavior: "allow" }] },
    });
    const { events, outcome } = await watch(createRunner({ agent }).run("Go.", { session: "s" }));
    expect([outcome.reason, model.refused]).toEqual(["complete", []]);
    expect(statuses(events).filter((status) => status.includes("mcp__notes__huge"))).toEqual([
      expect.stringMatching(/^The tool "mcp__notes__huge" of the MCP server "notes" is not offered to .*: its schema has \d+ characters/),
    ]);
    expect(keysOf(model.requests[1]?.body, "mcp__notes__small")).toEqual([]);
  });
});

describe("a run whose vendor names a tool in an error", () => {
  it("goes on without that tool, and names the tool and its server", async () => {
    await using model = await startModelServer([
      { status: 400, error: { message: "tools.0.custom.input_schema: this keyword is not supported" } },
      { toolCalls: [{ name: "mcp__notes__b" }] },
      { text: "done" },
    ]);
    await using servers = createMcpManager({
      servers: { notes: { type: "in-process", name: "notes" } },
      inProcess: { notes: rawServer(JSON.stringify(["a", "b"].map((name) => ({ name, inputSchema: { type: "object" } })))) },
    });
    const agent = createAgent({
      name: "a",
      model: createAnthropicProvider({ apiKey: "k", baseUrl: model.url, defaultModel: "claude-sonnet-5" }),
      toolSources: [servers.toolSource({ startupWaitMs: 30_000 })],
      deferTools: false,
      permissions: { rules: [{ pattern: "mcp__notes__*", behavior: "allow" }] },
    });
    const { events, outcome } = await watch(createRunner({ agent }).run("Go.", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(statuses(events)).toEqual([
      expect.stringMatching(/^The tool "mcp__notes__a" of the MCP server "notes" is not offered to .*: its vendor refused it: tools\.0/s),
    ]);
    expect(model.requests.map(({ body }) => (body["tools"] as readonly JsonObject[]).map(({ name }) => name))).toEqual([
      ["mcp__notes__a", "mcp__notes__b"],
      ["mcp__notes__b"],
      ["mcp__notes__b"],
    ]);
  });
});
