import { pathToFileURL } from "node:url";
import type { ElicitationRequest, McpServerConfig, ToolInference } from "@keelson/protocol";
import { createMcpManager, type McpNotice } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { isWithoutPeers, needsPeers } from "../peers.ts";
import { everythingServer, type RemoteServer, serveEverything } from "./real-servers.ts";

const local = async (): Promise<RemoteServer> => ({ config: everythingServer, async [Symbol.asyncDispose]() {} });
const TRANSPORTS: readonly (readonly [McpServerConfig["type"], () => Promise<RemoteServer>])[] = [
  ["stdio", local],
  ["http", () => serveEverything("http")],
  ["sse", () => serveEverything("sse")],
];

describe.skipIf(isWithoutPeers).each(TRANSPORTS)(`the reference server of everything over %s${needsPeers}`, (type, start) => {
  it("offers tools, which are called and say how far they are [AP-13, AP-14, MT-02]", async () => {
    await using remote = await start();
    await using manager = createMcpManager({ servers: { all: remote.config } });
    await manager.startAll();
    expect(manager.status("all")).toMatchObject({ state: "connected", protocolVersion: "2025-11-25" });
    const tools = await manager.listTools("all");
    expect(tools.find(({ name }) => name === "get-sum")).toMatchObject({
      inputSchema: { type: "object", required: ["a", "b"] },
      annotations: { readOnlyHint: true },
    });
    // What it offers to clients of our abilities only.
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["get-roots-list", "trigger-elicitation-request", "trigger-url-elicitation", "trigger-sampling-request"]),
    );
    const sum = await manager.callTool("all", "get-sum", { a: 2, b: 40 });
    expect(sum).toEqual({ content: [{ type: "text", text: "The sum of 2 and 40 is 42." }], isError: false });
    expect(await manager.callTool("all", "get-structured-content", { location: "Chicago" })).toMatchObject({
      structuredContent: { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 },
    });
    expect((await manager.callTool("all", "get-sum", { a: "two" })).isError).toBe(true);
    const steps: unknown[] = [];
    const onProgress = (message: string, ratio?: number): void => void steps.push([message, ratio]);
    await manager.callTool("all", "trigger-long-running-operation", { duration: 0.2, steps: 2 }, { onProgress });
    expect(steps).toEqual([
      ["50 %", 0.5],
      ["100 %", 1],
    ]);
  });

  it("is cancelled in a long call, and answers the next", async () => {
    await using remote = await start();
    await using manager = createMcpManager({ servers: { all: remote.config } });
    const abort = new AbortController();
    const onProgress = (): void => abort.abort(new Error("enough"));
    const long = manager.callTool(
      "all",
      "trigger-long-running-operation",
      { duration: 100, steps: 1000 },
      { onProgress, signal: abort.signal },
    );
    await expect(long).rejects.toThrow(/cancelled/);
    expect((await manager.callTool("all", "echo", { message: "still there" })).content).toEqual([
      { type: "text", text: "Echo: still there" },
    ]);
  });

  it("has resources that are read and watched, prompts, and completions of their arguments", async () => {
    await using remote = await start();
    const notices: McpNotice[] = [];
    await using manager = createMcpManager({ servers: { all: remote.config }, onNotice: (_, notice) => void notices.push(notice) });
    const all = manager.transport("all");
    const uri = "demo://resource/dynamic/text/1";
    expect((await all.listResources()).map((resource) => resource.name)).toContain("features.md");
    expect((await all.listResourceTemplates()).map((template) => template.uriTemplate)).toContain(
      "demo://resource/dynamic/blob/{resourceId}",
    );
    expect(await all.readResource(uri)).toEqual([expect.objectContaining({ uri, text: expect.stringContaining("Resource 1") })]);
    const [blob] = await all.readResource("demo://resource/dynamic/blob/1");
    expect(Buffer.from(blob?.blob ?? "", "base64").toString()).toContain("Resource 1");
    await expect(all.readResource("demo://resource/none")).rejects.toThrow(/not found/);

    const stop = await all.subscribe(uri);
    await manager.callTool("all", "toggle-subscriber-updates");
    await expect.poll(() => notices).toContainEqual({ type: "resource-updated", uri });
    await manager.callTool("all", "toggle-subscriber-updates");
    await stop();

    expect((await all.listPrompts()).map((prompt) => prompt.name)).toContain("args-prompt");
    expect(await all.getPrompt("args-prompt", { city: "Oslo" })).toEqual([
      { role: "user", content: { type: "text", text: "What's weather in Oslo?" } },
    ]);
    const target = { prompt: "completable-prompt" };
    expect(await all.complete(target, { name: "department", value: "S" })).toEqual(["Sales", "Support"]);
    expect(await all.complete(target, { name: "name", value: "", others: { department: "Sales" } })).toEqual(["David", "Eve", "Frank"]);
    expect(await all.complete({ uriTemplate: "demo://resource/dynamic/text/{resourceId}" }, { name: "resourceId", value: "7" })).toEqual([
      "7",
    ]);
  });

  it("logs, and is told of the folders that it may work with", async () => {
    await using remote = await start();
    const notices: McpNotice[] = [];
    await using manager = createMcpManager({
      servers: { all: remote.config },
      cwd: import.meta.dirname,
      onNotice: (_, notice) => void notices.push(notice),
    });
    await manager.callTool("all", "toggle-simulated-logging");
    await expect.poll(() => notices).toContainEqual({ type: "log", level: expect.any(String), data: expect.stringMatching(/level/i) });
    await manager.callTool("all", "toggle-simulated-logging");
    const { content } = await manager.callTool("all", "get-roots-list");
    expect(content).toEqual([{ type: "text", text: expect.stringContaining(pathToFileURL(import.meta.dirname).href) }]);
  });

  it("asks a person, on forms and on pages, and a model [MT-05, MT-06]", async () => {
    await using remote = await start();
    const asked: ElicitationRequest[] = [];
    await using manager = createMcpManager({
      servers: { all: remote.config },
      onElicitation: (request) => {
        asked.push(request);
        return { type: "provided", requestId: request.requestId, value: { name: "Ada" } };
      },
    });
    const form = await manager.callTool("all", "trigger-elicitation-request");
    expect(JSON.stringify(form.content)).toMatch(/Name: Ada/);
    expect(asked.at(-1)).toMatchObject({ server: "all", responseSchema: { required: ["name"] } });
    const url = "https://example.com/consent";
    // A page that has to be done before the call, and that of the call itself.
    const page = await manager.callTool("all", "trigger-url-elicitation", { url, errorPath: true });
    expect(asked.slice(1).map((request) => request.url)).toEqual(["https://modelcontextprotocol.io/", url]);
    expect(JSON.stringify(page.content)).toMatch(/User completed/);

    const inferred: ToolInference[] = [];
    const infer = async (request: ToolInference) => {
      inferred.push(request);
      return {
        type: "response" as const,
        content: [{ type: "text" as const, text: "Paris" }],
        model: "scripted",
        stopReason: "end-turn" as const,
        usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 },
      };
    };
    const sampled = await manager.callTool(
      "all",
      "trigger-sampling-request",
      { prompt: "The capital of France?", maxTokens: 5 },
      { infer },
    );
    expect(JSON.stringify(sampled.content)).toContain("Paris");
    expect(inferred).toMatchObject([{ from: "all", maxTokens: 5, system: "You are a helpful test server." }]);
    // Outside of a run nobody answers.
    expect(await manager.callTool("all", "trigger-sampling-request", { prompt: "The capital of France?" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/refused/) }],
    });
  });
});
