// Uses each feature of an installed `keelson`, whose path is the argument: with servers, searches and commands, in a sandbox, as a server, on a terminal.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { spawn as openTerminal } from "@lydell/node-pty";
import { createMcpManager } from "keelson/mcp";
import { startModelServer } from "keelson/testing";

const [, , keelson = ""] = process.argv;
const folder = await mkdtemp(join(tmpdir(), "keelson-command-"));
const project = join(folder, "project");
await mkdir(project);
await writeFile(join(project, "list.txt"), "apples\nfigs\nplums\n");
const args = [new URL("mcp-server.mjs", import.meta.url).pathname];
await writeFile(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } }));

const answers: Record<string, readonly object[]> = {
  "look around": [
    { toolCalls: [{ name: "grep", input: { pattern: "^f.gs$" } }] },
    { toolCalls: [{ name: "bash", input: { command: "sort -r list.txt | head -1 && touch made.txt" } }] },
    { toolCalls: [{ name: "mcp__notes__list", input: {} }] },
    { text: "Done." },
  ],
};
const server = await startModelServer((request) => {
  const body = JSON.stringify(request.body);
  const turns = Object.entries(answers).find(([task]) => body.includes(task))?.[1] ?? [{ text: "Hello." }];
  const turn = body.match(/"type":"tool_result"/g)?.length ?? 0;
  return (turns[turn] ?? { text: "Nothing is left." }) as { text: string };
});
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  KEELSON_HOME: join(folder, "home"),
  ANTHROPIC_API_KEY: "key",
  ANTHROPIC_BASE_URL: server.url,
  NO_COLOR: "1",
};

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...argv: readonly string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(keelson, argv, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

equal((await run("trust", "accept")).code, 0);

const checked = await run("doctor", "--json");
const findings = JSON.parse(checked.stdout) as readonly { what: string; state: string; detail: string }[];
for (const what of ["Node", "MCP notes", "MCP packages", "ripgrep", "sandbox"])
  equal(findings.find((finding) => finding.what === what)?.state, "ok", `doctor on ${what}: ${checked.stdout}`);

match((await run("mcp", "list")).stdout, /✔ notes/);
match((await run("mcp", "test", "notes")).stdout, /list/);

const looked = await run("-p", "--permission-mode", "bypass-all", "look around");
deepEqual(looked, { code: 0, stdout: "Done.\n", stderr: looked.stderr });
// Node's warnings would be among these lines.
ok(!/Warning|left out|^!/m.test(looked.stderr), looked.stderr);
const results = JSON.stringify(server.requests.at(-1)?.body);
for (const result of ["list.txt:2:figs", "plums", "Buy milk"]) ok(results.includes(result), `${result} in ${results}`);

const boxed = await run("-p", "--sandbox", "--permission-mode", "bypass-all", "look around");
deepEqual(boxed, { code: 0, stdout: "Done.\n", stderr: boxed.stderr });

const client = createMcpManager({ servers: { agent: { type: "stdio", command: keelson, args: ["mcp", "serve"], cwd: project, env } } });
const { structuredContent } = await client.callTool("agent", "keelson", { task: "say hello" });
equal((structuredContent as { text?: string }).text, "Hello.");
await client[Symbol.asyncDispose]();

// The files that the agent wrote may be run by the server, so the project is no longer trusted.
equal((await run("trust", "accept")).code, 0);

const session = openTerminal(keelson, [], { name: "xterm", cols: 100, rows: 30, cwd: project, env });
let shown = "";
let noticed = Promise.withResolvers<void>();
session.onData((text) => {
  shown += text;
  noticed.resolve();
});
const exited = new Promise<number>((resolve) => session.onExit(({ exitCode }) => resolve(exitCode)));
async function until(pattern: RegExp): Promise<void> {
  while (!pattern.test(shown)) {
    const ended = await Promise.race([noticed.promise, exited, setTimeout(20_000, "nothing for 20 s")]);
    ok(ended === undefined, `the terminal shows no ${pattern} (${ended}): ${shown}`);
    noticed = Promise.withResolvers();
  }
}
await until(/› /);
session.write("hello\r");
await until(/Hello\.[\s\S]*complete/);
session.write("/quit\r");
equal(await exited, 0);

await server.close();
await rm(folder, { recursive: true });
// A timer of the terminal may still wait.
process.exit();
