import { createInterface } from "node:readline";
import { describe, expect, it, vi } from "vitest";
import { MODELS, openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

describe("keelson mcp serve", () => {
  it("offers the agent and the sessions that clients began over standard input and output, and ends with its client", async () => {
    await using workspace = await openWorkspace(
      [{ toolCalls: [{ name: "read_file", input: { path: "note.txt" } }] }, { text: "It says: buy milk." }],
      { "note.txt": "buy milk" },
    );
    const { child, finished } = workspace.start(["--model", MODELS.anthropic, "mcp", "serve"], { keepInput: true });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    let id = 0;
    const ask = async (method: string, params: object = {}): Promise<object> => {
      const own = (id += 1);
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
      for (;;) {
        const { value } = await lines.next();
        const message = JSON.parse(String(value)) as { readonly id?: number; readonly result?: object };
        if (message.id === own) return message.result ?? {};
      }
    };
    const clientInfo = { name: "raw", version: "1" };
    expect(await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })).toMatchObject({
      serverInfo: { name: "keelson" },
      instructions: expect.stringContaining(workspace.project),
    });
    const called = await ask("tools/call", { name: "keelson", arguments: { task: "What does the note say?" } });
    expect(called).toMatchObject({ structuredContent: { reason: "complete", text: "It says: buy milk." } });
    const { resources } = (await ask("resources/list")) as { readonly resources: readonly { readonly uri: string }[] };
    const { session } = (called as { readonly structuredContent: { readonly session: string } }).structuredContent;
    expect(resources.map(({ uri }) => uri)).toEqual([`keelson://sessions/${session}`]);
    child.stdin?.end();
    expect((await finished).code).toBe(0);
    const listed = await workspace.keelson("sessions", "list", "--json");
    expect(listed.stdout).toContain(session);
  });

  it("wants a token for clients over HTTP", async () => {
    await using workspace = await openWorkspace([]);
    const refused = await workspace.keelson("--model", MODELS.anthropic, "mcp", "serve", "--port", "0");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("KEELSON_MCP_TOKEN")]);
    const wrong = await workspace.keelson("mcp", "serve", "--port", "many");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("is no port")]);
  });
});
