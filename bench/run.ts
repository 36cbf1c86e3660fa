// Measures what Keelson costs, side by side with a bare loop: `npm run build && npm run bench`. See docs/benchmarks.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { root } from "../tools/run-command.ts";
import { FOOTPRINT_PARTS, footprint } from "./footprint.ts";
import { intoPage, machineFacts, markdownOf, type Row, textOf } from "./report.ts";
import { type Repetition, rowsOf } from "./rows.ts";
import { arePeersInstalled, PEERS } from "./subjects.ts";
import { type Figures, type Sizes, WORKLOADS } from "./workloads.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    repetitions: { type: "string" },
    only: { type: "string" },
    peers: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const PARTS = [...Object.keys(WORKLOADS), ...FOOTPRINT_PARTS];
const FULL: Sizes = { conversations: 10, warmUp: 10, chunks: 20_000, longTurns: 1000, agents: 200 };
const QUICK: Sizes = { conversations: 5, warmUp: 5, chunks: 5000, longTurns: 200, agents: 50 };
const TIMEOUT_MS = 300_000;

if (options.help) {
  console.log(`npm run bench -- [options]
  --quick            smaller sizes, three repetitions: to see whether something broke, not how much it costs
  --repetitions <n>  default 7
  --only <parts>     some of ${PARTS.join(", ")}, separated by commas
  --peers            other runtimes too (first: npm ci --prefix bench/peers)
  --record           adds the results to bench/history.jsonl and puts them into docs/benchmarks.md`);
  process.exit(0);
}

const only = options.only?.split(",") ?? PARTS;
const unknown = only.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}; there are ${PARTS.join(", ")}.`);
const repetitions = Number(options.repetitions ?? (options.quick ? 3 : 7));
const sizes = options.quick ? QUICK : FULL;
if (!existsSync(join(root, "packages", "runtime", "dist", "index.js")))
  throw new Error("The bench measures the built packages: run `npm run build` first.");
if (options.peers && !arePeersInstalled()) throw new Error("The peers are not installed: run `npm ci --prefix bench/peers` first.");

const peers = options.peers ? PEERS : [];
/** Every repetition runs these one after another, each in a process of its own. */
const SUBJECTS: { readonly [workload: string]: readonly string[] } = {
  "turn": ["raw", "raw-http", "keelson", ...peers],
  "additions": ["raw", "raw-sqlite", "keelson", "keelson-rules", "keelson-everything", "keelson-sqlite"],
  "warm-additions": ["raw", "keelson-rules", "keelson-everything", "keelson-sqlite"],
  "stream": ["raw", "raw-http", "keelson", ...peers],
  "session": ["raw", "raw-http", "keelson", "keelson-sqlite", ...peers],
  "crowd": ["raw", "raw-http", "keelson", ...peers],
  "crowd-heap": ["raw", "raw-http", "keelson", ...peers],
};

/** So many processes of each subject make one repetition: where what is asked for are small differences. */
const PROCESSES: { readonly [workload: string]: number } = { additions: 5 };

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${what}`);
}

async function repeat(workload: string, baseUrl: string): Promise<readonly Repetition[]> {
  const subjects = SUBJECTS[workload] ?? [];
  const done: Repetition[] = [];
  const processes = PROCESSES[workload] ?? 1;
  for (let count = 0; count < repetitions; count++) {
    const figures = new Map<string, Figures[]>();
    for (let round = 0; round < processes; round++) {
      // The order turns, so that nobody is always first.
      const turned = subjects.map((_, index) => subjects[(index + count + round) % subjects.length] as string);
      for (const subject of turned) {
        progress(`${workload} ${count + 1}/${repetitions}: ${subject}`);
        const result = await measure(subject, workload, baseUrl);
        if (result !== undefined) figures.set(subject, [...(figures.get(subject) ?? []), result]);
      }
    }
    done.push(new Map([...figures].map(([subject, all]) => [subject, meanOf(all)])));
  }
  progress("");
  return done;
}

function meanOf(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, all.reduce((sum, figures) => sum + (figures[name] ?? Number.NaN), 0) / all.length]));
}

async function measure(subject: string, workload: string, baseUrl: string): Promise<Figures | undefined> {
  const child = spawn(
    process.execPath,
    ["--expose-gc", join(root, "bench", "measure.ts"), subject, workload, baseUrl, JSON.stringify(sizes)],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      // Production, as its users run it; the sources' export condition would measure other files.
      env: { ...process.env, NODE_ENV: "production", NODE_OPTIONS: "" },
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    },
  );
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code === 0) return JSON.parse(output.trim().split("\n").at(-1) ?? "") as Figures;
  const why = signal === null ? errors.trim() : `it did not end within ${TIMEOUT_MS / 1000} s`;
  if (!PEERS.includes(subject)) throw new Error(`${subject} could not be measured (${workload}): ${why}`);
  console.error(`\n${subject} is left out of ${workload}: ${why}`);
  return undefined;
}

const server = spawn(process.execPath, [join(root, "bench", "model-server.ts")], { stdio: ["pipe", "pipe", "inherit"] });
const rows: Row[] = [];
try {
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const baseUrl = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/v1`;
  for (const workload of Object.keys(WORKLOADS).filter((name) => only.includes(name)))
    rows.push(...rowsOf(workload, { subjects: SUBJECTS[workload] ?? [], repetitions: await repeat(workload, baseUrl), sizes }));
} finally {
  server.stdin.end();
}
rows.push(...(await footprint(only, repetitions)));

const facts = machineFacts(repetitions, options.quick);
console.log(`${facts}\n\n${textOf(rows)}`);
if (options.record) {
  appendFileSync(join(root, "bench", "history.jsonl"), `${JSON.stringify({ facts, rows })}\n`);
  const page = join(root, "docs", "benchmarks.md");
  writeFileSync(page, intoPage(readFileSync(page, "utf8"), `${facts}\n\n${markdownOf(rows)}`));
}
