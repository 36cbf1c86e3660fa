import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createSandboxExecutor } from "keelson/environment";
import { createMcpManager } from "keelson/mcp";
import { afterAll, expect, it } from "vitest";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";
import { call, place } from "./places.ts";

const workspace = mkdtempSync(join(tmpdir(), "keelson-mcp-sandbox-"));
afterAll(() => rmSync(workspace, { recursive: true }));

// What a server answers to each line, without anything of this project: the sandbox shows the workspace alone.
const SERVER = `
  const { readFileSync, writeFileSync } = require("node:fs");
  const attempt = (work) => { try { return String(work()); } catch (error) { return error.code; } };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const results = {
      "initialize": () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
      "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
      "tools/call": () => ({ content: [{ type: "text", text: [
        attempt(() => writeFileSync(process.env.INSIDE, "x") ?? "written"),
        attempt(() => writeFileSync(process.env.OUTSIDE, "x") ?? "written"),
        Object.keys(process.env).includes("LANG"),
      ].join(" ") }] }),
    };
    const answer = results[method] ? { result: results[method]() } : { error: { code: -32601, message: "no" } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });`;

describeWithBubblewrap("a server that is a program, in a sandboxed run", () => {
  it("has the files of the sandbox and no others, and the environment of its configuration [EF-03]", async () => {
    const env = { INSIDE: join(workspace, "inside.txt"), OUTSIDE: join(tmpdir(), "..", "outside-of-the-sandbox.txt") };
    await using manager = createMcpManager({ servers: { one: { type: "stdio", command: process.execPath, args: ["-e", SERVER], env } } });
    // Node itself, wherever it is installed.
    const readableRoots = [dirname(realpathSync(process.execPath))];
    const exec = createSandboxExecutor(
      { filesystem: { writableRoots: ["."], readableRoots } },
      { workspace, env: { ...process.env, LANG: "C" } },
    );
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place({ environment: { exec } }));
    await source.ready;
    expect(source.problems?.()).toEqual([]);
    expect(await call(source, "mcp__one__look")).toMatch(/^written E\w+ false$/);
  });
});
