// Milliseconds from Esc to a free prompt, by the clock of the terminal: a real `keelson` in a pseudo-terminal, a new one for each round.
//   node --conditions=source bench/escape-times.ts [rounds]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerScript } from "keelson/testing";
import { openWorkspace, type Workspace } from "../packages/code/test/keelson-process.ts";
import { openTerminal } from "../packages/code/test/keelson-terminal.ts";
import { NOTE_SERVER } from "../packages/code/test/note-server.ts";

const ROUNDS = Number(process.argv[2] ?? 10);
const ESCAPE = "\u001b";

/** Work that a person stops. */
interface Work {
  readonly script: ServerScript;
  readonly files?: { readonly [path: string]: string };
  prepare?(workspace: Workspace): Promise<void>;
  /** True once the work is under way. */
  hasBegun(workspace: Workspace): Promise<boolean>;
}

const wroteTo = (path: string, lines: number) => async (workspace: Workspace) => {
  const text = await readFile(join(workspace.project, path), "utf8").catch(() => "");
  return text.trim().split("\n").length >= lines && text.trim() !== "";
};
const loop = "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done";
const stray = `setsid sh -c "${loop.replace("$$", String.raw`\$\$`)}" &`;
const take = { name: "mcp__notes__take", input: { path: "taken.txt" } };
const LINE = "the quick brown fox jumps over the lazy dog\n";

function edit(lines: number): Work {
  const input = { path: "big.txt", old_string: "last\n", new_string: "LAST\n" };
  return {
    script: [{ toolCalls: [{ name: "edit_file", input }] }, { text: "Done." }],
    files: { "big.txt": `${LINE.repeat(lines)}last\n` },
    hasBegun: async ({ server }) => server.requests.length === 1,
  };
}

const WORKS: { readonly [name: string]: Work } = {
  "a command": {
    script: [{ toolCalls: [{ name: "bash", input: { command: "echo $$ >> pids; sleep 600" } }] }],
    hasBegun: wroteTo("pids", 1),
  },
  "a command and a stray, which ignore SIGTERM": {
    script: [{ toolCalls: [{ name: "bash", input: { command: `${stray} ${loop}` } }] }],
    hasBegun: wroteTo("pids", 2),
  },
  "an edit of a file of 1 MB": edit(25_000),
  "an edit of a file of 17 MB": edit(400_000),
  "a call of an MCP server that hangs": {
    script: ({ body }) =>
      JSON.stringify(body).includes(`"${take.name}"`)
        ? { toolCalls: [take] }
        : { toolCalls: [{ name: "bash", input: { command: "sleep 0.5" } }] },
    files: { "notes.mjs": NOTE_SERVER.replace("if (id !== undefined)", 'if (id !== undefined && method !== "tools/call")') },
    async prepare({ home }) {
      await mkdir(home, { mode: 0o700 });
      await writeFile(join(home, "version"), "1\n");
      const servers = { notes: { command: process.execPath, args: ["notes.mjs"] } };
      await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
    },
    hasBegun: wroteTo("taken.txt", 1),
  },
};

async function measure({ script, files, prepare, hasBegun }: Work): Promise<number> {
  await using workspace = await openWorkspace(script, files);
  await prepare?.(workspace);
  await using terminal = openTerminal(workspace, ["--permission-mode", "bypass-all"]);
  await terminal.until(/› $/m);
  terminal.type("go\r");
  while (!(await hasBegun(workspace))) await sleep(5);
  const begun = performance.now();
  terminal.type(ESCAPE);
  await terminal.until(/(?:✗ stopped|Done\.|asks you here first)[\s\S]*\n› $/);
  return performance.now() - begun;
}

for (const [name, work] of Object.entries(WORKS)) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await measure(work));
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.min(times.length - 1, Math.floor(share * times.length))] as number).toFixed(0);
  process.stdout.write(`${name}: median ${at(0.5)} ms, slowest ${at(1)} ms, of ${ROUNDS}\n`);
}
