// The peak of the memory of `keelson -p`, without commands and with compound ones that the permission rules have to read.
//   node --conditions=source bench/command-memory.ts [commands] [program]
// `program` is the file of another `keelson` command, such as an installed one. Default: the built one of this workspace.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { startModelServer, type ServerTurn } from "keelson/testing";
import { root } from "../tools/run-command.ts";

const commands = Number(process.argv[2] ?? 20);
const program = resolve(process.argv[3] ?? join(root, "packages", "code", "dist", "cli.js"));
/** Writes the peak in MiB to a descriptor of its own when the process ends. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  "import { writeSync } from 'node:fs'; process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS / 1024)));",
)}`;

/** Commands that only read, so that no rule is needed for them. */
const compound = (round: number): string =>
  `for i in 1 2 ${round}; do echo "$i" | head -1; done; [ -e x ] || echo "$(git status --short)" && (pwd; date) | grep -n "x${round}"; true`;

async function peakOf(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-memory-"));
  mkdirSync(join(folder, "project"));
  const turns = Array.from({ length: count }, (_, round): ServerTurn => ({
    toolCalls: [{ name: "bash", input: { command: compound(round) } }],
  }));
  await using server = await startModelServer([...turns, { text: "Done." }]);
  const child = spawn(
    process.execPath,
    [
      ...(program.endsWith(".ts") ? ["--conditions=source"] : []),
      "--import",
      REPORT,
      program,
      "-p",
      "--output-format",
      "stream-json",
      "Work.",
    ],
    {
      cwd: join(folder, "project"),
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        KEELSON_HOME: join(folder, "home"),
        ANTHROPIC_API_KEY: "key",
        ANTHROPIC_BASE_URL: server.url,
      },
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    },
  );
  try {
    const [output, peak, [code]] = await Promise.all([
      text(child.stdio[1] as Readable),
      text(child.stdio[3] as Readable),
      once(child, "close") as Promise<[number | null]>,
    ]);
    const results = output.split('"type":"tool-result"').length - 1;
    if (code !== 0 || results < count)
      throw new Error(`keelson ended with ${code} after ${results} of ${count} commands:\n${output.slice(-2000)}`);
    return Number(peak);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const count of [0, commands]) console.log(`${count} compound commands: peak ${(await peakOf(count)).toFixed(0)} MiB`);
