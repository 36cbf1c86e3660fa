import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRunner } from "keelson";
import { createMcpManager, type McpLifecycleManager } from "keelson/mcp";
import { scriptedModel } from "keelson/testing";
import type { Content, JsonObject, JsonValue } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serve } from "../http-servers.ts";
import { isWithoutBrowser, isWithoutPeers, needsBrowser, needsPeers } from "../peers.ts";
import { browserServer, everythingServer, filesystemServer, memoryServer } from "./real-servers.ts";

let folder = "";
beforeEach(async () => void (folder = await realpath(await mkdtemp(join(tmpdir(), "keelson-agent-")))));
afterEach(() => rm(folder, { recursive: true }));

type Given = { readonly output: JsonValue; readonly isError: boolean };

/** What the model is told of the calls that it makes, one a turn, with the tools of the servers. */
async function told(
  manager: McpLifecycleManager,
  calls: readonly (readonly [name: string, input?: JsonObject])[],
): Promise<readonly Given[]> {
  const model = scriptedModel([...calls.map(([name, input = {}]) => ({ toolCalls: [{ name, input }] })), "done"]);
  const agent = createAgent({
    name: "user",
    model,
    toolSources: [manager.toolSource({ startupWaitMs: 30_000 })],
    permissions: { mode: "bypass-all" },
  });
  const outcome = await createRunner({ agent }).run("go").outcome;
  expect(outcome).toMatchObject({ reason: "complete", text: "done" });
  const parts = model.requests.at(-1)?.messages.flatMap(({ content }): readonly Content[] => content) ?? [];
  return parts.flatMap((part) =>
    part.type === "tool-result" ? [{ output: part.output as JsonValue, isError: part.isError === true }] : [],
  );
}

const text = (part: string): object => ({ type: "text", text: expect.stringContaining(part) });
const content = (...parts: readonly object[]): object => ({ type: "content", content: parts });

describe.skipIf(isWithoutPeers)(`an agent${needsPeers}`, () => {
  it("works with files by the reference server, in its folder only", async () => {
    const [inside, outside] = [join(folder, "inside"), join(folder, "outside")];
    await mkdir(inside);
    await mkdir(outside);
    await using manager = createMcpManager({ servers: { files: filesystemServer(inside) } });
    const path = join(inside, "note.txt");
    const given = await told(manager, [
      ["mcp__files__write_file", { path, content: "Buy milk" }],
      ["mcp__files__read_text_file", { path }],
      ["mcp__files__list_directory", { path: outside }],
    ]);
    expect(given).toEqual([
      { output: `Successfully wrote to ${path}`, isError: false },
      { output: "Buy milk", isError: false },
      {
        output: { type: "content", content: [{ type: "text", text: expect.stringMatching(/outside allowed directories/) }] },
        isError: true,
      },
    ]);
    expect(await readFile(path, "utf8")).toBe("Buy milk");
  });

  it("remembers by the reference server", async () => {
    await using manager = createMcpManager({ servers: { memory: memoryServer(join(folder, "memory.jsonl")) } });
    const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
    const given = await told(manager, [
      ["mcp__memory__create_entities", { entities: [ada] }],
      ["mcp__memory__search_nodes", { query: "first" }],
    ]);
    expect(given).toEqual([
      { output: { entities: [ada] }, isError: false },
      { output: { entities: [ada], relations: [] }, isError: false },
    ]);
  });

  it("is given content of every kind that the reference server has", async () => {
    await using manager = createMcpManager({ servers: { all: everythingServer } });
    const given = await told(manager, [
      ["mcp__all__echo", { message: "Hello" }],
      ["mcp__all__get-tiny-image"],
      ["mcp__all__get-structured-content", { location: "Chicago" }],
      ["mcp__all__get-resource-links", { count: 2 }],
      ["mcp__all__get-resource-reference", { resourceType: "Text", resourceId: 1 }],
      ["mcp__all__get-resource-reference", { resourceType: "Blob", resourceId: 1 }],
      ["mcp__all__get-sum", { a: "one", b: 2 }],
    ]);
    expect(given.map(({ output }) => output)).toEqual([
      "Echo: Hello",
      content(text("Here's the image"), { type: "image", mediaType: "image/png", data: expect.any(String) }, text("MCP logo")),
      { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 },
      content(text("2 resource links"), text("Resource demo://resource/dynamic/blob/1"), text("Resource demo://resource/dynamic/text/2")),
      content(text("Returning"), text("This is a plaintext resource"), text("You can access")),
      content(
        text("Returning"),
        { type: "file", mediaType: "text/plain", name: "demo://resource/dynamic/blob/1", data: expect.any(String) },
        text("You can access"),
      ),
      expect.stringMatching(/arguments .* were not accepted/),
    ]);
  });
});

describe.skipIf(isWithoutBrowser)(`an agent with a browser${needsBrowser}`, () => {
  it("opens a page, clicks on it, reads what that changed and sees it", async () => {
    const page = `<!doctype html><title>Counter</title><p id="count">Nobody was here.</p>
      <button onclick="document.getElementById('count').textContent = 'Somebody was here.'">Come in</button>`;
    await using site = await serve((_, response) => void response.setHeader("content-type", "text/html").end(page));
    await using manager = createMcpManager({ servers: { browser: browserServer(folder) } });
    const given = await told(manager, [
      ["mcp__browser__browser_navigate", { url: site.url }],
      ["mcp__browser__browser_click", { element: "the button", target: "button" }],
      ["mcp__browser__browser_snapshot"],
      ["mcp__browser__browser_take_screenshot"],
    ]);
    expect(given.map(({ isError }) => isError)).toEqual([false, false, false, false]);
    expect(given[2]?.output).toContain("Somebody was here.");
    const screenshot = { type: "image", mediaType: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) };
    expect(given[3]?.output).toEqual(content(text("Screenshot"), screenshot));
  }, 90_000);
});
