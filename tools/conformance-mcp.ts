// Holds `examples/mcp-everything` to the conformance suite of the Model Context Protocol: server and client, each for both eras. What may fail
// stands in packages/runtime/test/mcp/peers/conformance-baseline.yml; whatever else fails, or passes although it stands there, fails this.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { giveTurns } from "./give-turns.ts";
import { root, runCommand } from "./run-command.ts";

const peers = join(root, "packages/runtime/test/mcp/peers");
const suite = join(peers, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const baseline = join(peers, "conformance-baseline.yml");
const allowed = new Set([...readFileSync(baseline, "utf8").matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => name));
const REVISIONS = ["2025-11-25", "2026-07-28"];
const server = "examples/mcp-everything/server.ts";
const client = "examples/mcp-everything/client.ts";
const NODE = [process.execPath, "--conditions=source"];

if (!existsSync(suite)) {
  console.log("The conformance suite is not installed: run packages/runtime/test/mcp/peers/install.sh");
  process.exit(1);
}

interface Outcome {
  readonly title: string;
  readonly code: number;
}

const outcomes: Outcome[] = [];
/** `server` or `client`; both where none is named. */
const sides = process.argv.length > 2 ? process.argv.slice(2) : ["server", "client"];

async function hold(title: string, args: readonly string[]): Promise<void> {
  const { code, output, seconds } = await runCommand(process.execPath, [suite, ...args, "--expected-failures", baseline]);
  const total = /^Total: .*$/m.exec(output)?.[0] ?? "no total";
  // Of extensions the suite itself lets any fail.
  const unexpected = [...output.matchAll(/^✗ (\S+): /gm)].flatMap(([, name = ""]) => (allowed.has(name) ? [] : [name]));
  const isHeld = code === 0 && unexpected.length === 0;
  console.log(`${isHeld ? "ok  " : "FAIL"} ${title}: ${total.toLowerCase()} (${seconds.toFixed(1)} s)`);
  if (unexpected.length > 0) console.log(`failed, and must not: ${unexpected.join(", ")}`);
  else if (!isHeld) console.log(output.slice(Math.max(0, output.lastIndexOf("=== SUMMARY ==="))).trimEnd());
  outcomes.push({ title, code: isHeld ? 0 : 1 });
}

/** Starts the server on a port that is free, and stops it when all is asked. */
async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  const [command = "", ...args] = [...NODE, server, "--port", "0"];
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("exit", (code) => reject(new Error(`${server} ended with ${code} before it said where it listens`)));
      child.once("error", reject);
    });
    await use(url);
  } finally {
    child.kill();
  }
}

if (sides.includes("server"))
  await withServer(async (url) => {
    for (const revision of REVISIONS) await hold(`server ${revision}`, ["server", "--url", url, "--requirements", revision]);
  });
if (sides.includes("client")) {
  // All scenarios are started at once, a process each, against servers in one process: where these have to wait for long, connections are lost.
  await using turns = await giveTurns(availableParallelism());
  const command = [join(root, "tools/in-turn.sh"), turns.port, ...NODE, client].join(" ");
  process.env["NODE_COMPILE_CACHE"] = join(root, "results", "compile-cache");
  for (const revision of REVISIONS)
    await hold(`client ${revision}`, ["client", "--command", command, "--requirements", revision, "--timeout", "120000"]);
}
mkdirSync(join(root, "results"), { recursive: true });
writeFileSync(join(root, "results", "conformance-mcp.json"), JSON.stringify(outcomes));
if (outcomes.some(({ code }) => code !== 0)) process.exitCode = 1;
