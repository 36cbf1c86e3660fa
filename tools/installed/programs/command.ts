// Uses each feature of an installed `keelson`, whose path is the argument: with servers, searches and commands, in a sandbox, as a server, on a terminal.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createMcpManager } from "keelson/mcp";
import { openProgram } from "./program.ts";

const [, , keelson = ""] = process.argv;
const program = await openProgram(keelson);
const { project, env, requests, run } = program;
await program.put("list.txt", "apples\nfigs\nplums\n");
const args = [new URL("mcp-server.mjs", import.meta.url).pathname];
await program.put(".mcp.json", JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } }));
const lookAround: readonly object[] = [
  { toolCalls: [{ name: "grep", input: { pattern: "^f.gs$" } }] },
  { toolCalls: [{ name: "bash", input: { command: "sort -r list.txt | head -1 && touch made.txt" } }] },
  { toolCalls: [{ name: "mcp__notes__list", input: {} }] },
  { text: "Done." },
];

equal((await run("trust", "accept")).code, 0);

const checked = await run("doctor", "--json");
const findings = JSON.parse(checked.stdout) as readonly { what: string; state: string; detail: string }[];
for (const what of ["Node", "MCP notes", "MCP packages", "search", "sandbox"])
  equal(findings.find((finding) => finding.what === what)?.state, "ok", `doctor on ${what}: ${checked.stdout}`);

match((await run("mcp", "list")).stdout, /✔ notes/);
match((await run("mcp", "test", "notes")).stdout, /list/);

program.script(...lookAround);
const looked = await run("-p", "--permission-mode", "bypass-all", "look around");
deepEqual(looked, { code: 0, stdout: "Done.\n", stderr: looked.stderr });
// Node's warnings would be among these lines.
ok(!/Warning|left out|^!/m.test(looked.stderr), looked.stderr);
const results = requests.at(-1) ?? "";
for (const result of ["list.txt:2:figs", "plums", "Buy milk"]) ok(results.includes(result), `${result} in ${results}`);

program.script(...lookAround);
const boxed = await run("-p", "--sandbox", "--permission-mode", "bypass-all", "look around");
deepEqual(boxed, { code: 0, stdout: "Done.\n", stderr: boxed.stderr });

program.script({ text: "Hello." });
const client = createMcpManager({ servers: { agent: { type: "stdio", command: keelson, args: ["mcp", "serve"], cwd: project, env } } });
const { structuredContent } = await client.callTool("agent", "keelson", { task: "say hello" });
equal((structuredContent as { text?: string }).text, "Hello.");
await client[Symbol.asyncDispose]();

// The files that the agent wrote may be run by the server, so the project is no longer trusted.
equal((await run("trust", "accept")).code, 0);

program.script({ text: "Hello." });
const terminal = program.open();
await terminal.until(/› /);
terminal.type("hello\r");
await terminal.until(/Hello\.[\s\S]*complete/);
terminal.type("/quit\r");
equal(await terminal.exited, 0);

await program[Symbol.asyncDispose]();
// A timer of the terminal may still wait.
process.exit();
