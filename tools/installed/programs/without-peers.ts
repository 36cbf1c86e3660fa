// Where no optional peer is installed, each feature that needs one says what to install.
import { equal, match, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRunner } from "keelson";
import { createDiskVfs, createOverlay, createProcessExecutor } from "keelson/environment";
import { createMcpManager, createMcpServer, serveMcpStdio } from "keelson/mcp";
import { loadTokenizer } from "keelson/providers";
import { createKeyringSecrets } from "keelson/secrets";
import { scriptedModel } from "keelson/testing";

const folder = await mkdtemp(join(tmpdir(), "keelson-peers-"));
await writeFile(join(folder, "list.txt"), "apples\n");
const warnings: string[] = [];
process.on("warning", ({ name, message }) => void (name === "KeelsonWarning" && warnings.push(message)));

const manager = createMcpManager({ servers: { notes: { type: "stdio", command: "notes" } } });
await rejects(manager.callTool("notes", "list"), /npm install @modelcontextprotocol\/client/);
const agent = createAgent({ name: "a", model: scriptedModel(["done"]), toolSources: [manager.toolSource({ startupWaitMs: 5_000 })] });
const statuses: string[] = [];
for await (const event of createRunner({ agent }).run("go")) if (event.type === "status") statuses.push(event.status);
match(statuses.join("\n"), /npm install @modelcontextprotocol\/client/);

await rejects(serveMcpStdio(createMcpServer({ name: "s", version: "1" })), /npm install @modelcontextprotocol\/server/);
await rejects(createProcessExecutor({ cwd: folder }).execute({ command: "true", pty: true }), /npm install @lydell\/node-pty/);
await rejects(
  async () => createKeyringSecrets().read("a/b", { signal: new AbortController().signal, maxBytes: 100 }),
  /npm install @napi-rs\/keyring/,
);
await rejects(loadTokenizer("gpt-5"), /npm install gpt-tokenizer/);
const overlay = await createOverlay({ base: folder, store: `${folder}-store`, shell: "none" });
await overlay.files.write("list.txt", "pears\n");
await rejects(overlay.diff({ text: true }), /npm install node-diff3/);
await overlay.close();

// Found all the same, more slowly, as a pattern without a fixed text is.
equal((await createDiskVfs({ root: folder }).grep("^[a-c]p+l")).length, 1);
await new Promise((resolve) => setImmediate(resolve));
match(warnings.join("\n"), /npm install @vscode\/ripgrep/);
await rm(folder, { recursive: true });
await rm(`${folder}-store`, { recursive: true, force: true });
