// Measures what Keelson costs, side by side with a bare loop: `npm run build && npm run bench`. See docs/benchmarks.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { root, runCommand } from "../tools/run-command.ts";
import { installStaged } from "../tools/install-staged.ts";
import { measureImport, weighInstall } from "../tools/weigh-install.ts";
import { intoPage, machineFacts, markdownOf, type Row, textOf } from "./report.ts";
import { rangeOf } from "./statistics.ts";
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

const PARTS = [...Object.keys(WORKLOADS), "import", "install", "types"];
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
  "additions": ["raw", "keelson-rules", "keelson-everything", "keelson-sqlite"],
  "stream": ["raw", "raw-http", "keelson", ...peers],
  "session": ["raw", "raw-http", "keelson", "keelson-sqlite", ...peers],
  "crowd": ["raw", "raw-http", "keelson", ...peers],
  "crowd-heap": ["raw", "raw-http", "keelson", ...peers],
};

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${what}`);
}

type Repetition = ReadonlyMap<string, Figures>;

async function repeat(workload: string, baseUrl: string): Promise<readonly Repetition[]> {
  const subjects = SUBJECTS[workload] ?? [];
  const done: Repetition[] = [];
  for (let count = 0; count < repetitions; count++) {
    const figures = new Map<string, Figures>();
    // The order turns, so that nobody is always first.
    for (const subject of subjects.map((_, index) => subjects[(index + count) % subjects.length] as string)) {
      progress(`${workload} ${count + 1}/${repetitions}: ${subject}`);
      const result = await measure(subject, workload, baseUrl);
      if (result !== undefined) figures.set(subject, result);
    }
    done.push(figures);
  }
  progress("");
  return done;
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

/** One figure of a subject through all repetitions; `over`: as a ratio to the same figure of another in the same repetition. */
function figuresOf(results: readonly Repetition[], subject: string, figure: string, over?: string): readonly number[] {
  return results.flatMap((repetition) => {
    const own = repetition.get(subject)?.[figure];
    const other = over === undefined ? 1 : repetition.get(over)?.[figure];
    return own === undefined || other === undefined ? [] : [own / other];
  });
}

const RATIO_ROWS: { readonly [workload: string]: { readonly what: string; readonly target: number } } = {
  turn: { what: "one turn of a 20-turn tool loop", target: 0.7 },
  stream: { what: `one answer of ${sizes.chunks.toLocaleString("en")} chunks`, target: 0.8 },
  session: { what: `a session of ${sizes.longTurns.toLocaleString("en")} turns`, target: 0.35 },
  crowd: { what: `${sizes.agents} concurrent agents, per turn`, target: 0.8 },
};

function rowsOf(workload: string, results: readonly Repetition[]): readonly Row[] {
  const rows: Row[] = [];
  const subjects = SUBJECTS[workload] ?? [];
  const ratios = RATIO_ROWS[workload];
  if (ratios !== undefined) {
    for (const subject of subjects) {
      if (subject === "keelson-sqlite") continue;
      rows.push({
        what: ratios.what,
        subject,
        unit: "× raw",
        value: rangeOf(figuresOf(results, subject, "cpuMs", "raw")),
        absolute: `${rangeOf(figuresOf(results, subject, "cpuMs")).median.toFixed(2)} ms CPU`,
        ...(subject === "keelson" && { target: ratios.target }),
      });
    }
  }
  if (workload === "additions") {
    const figureOf = (repetition: Repetition, which: string, figure: string): number => repetition.get(which)?.[figure] ?? Number.NaN;
    for (const [what, which] of [
      ["a turn with a rule and permissions", "keelson-rules"],
      ["a turn with a hook, a plugin, a rule and permissions", "keelson-everything"],
    ] as const)
      rows.push({
        what,
        subject: "keelson",
        unit: "× without",
        value: rangeOf(results.map((repetition) => quotient(repetition.get(which), "cpuMs", "withoutMs"))),
        target: 1.15,
      });
    const persisted = results.map(
      (repetition) =>
        (figureOf(repetition, "keelson-sqlite", "cpuMs") - figureOf(repetition, "keelson-sqlite", "withoutMs")) /
        figureOf(repetition, "raw", "cpuMs"),
    );
    rows.push({
      what: "a persisted turn over an unpersisted one (SQLite)",
      subject: "keelson",
      unit: "raw turns more",
      value: rangeOf(persisted),
      target: 0.11,
    });
  }
  if (workload === "session") {
    rows.push({
      what: "bytes on disk per turn, late in the session over early",
      subject: "keelson",
      unit: "×",
      value: rangeOf(results.map((repetition) => quotient(repetition.get("keelson-sqlite"), "lastTenthBytes", "firstTenthBytes"))),
      absolute: `${rangeOf(figuresOf(results, "keelson-sqlite", "lastTenthBytes")).median.toFixed(0)} bytes`,
    });
    for (const subject of subjects.filter((name) => name !== "keelson-sqlite"))
      rows.push({
        what: "CPU per turn, late in the session over early",
        subject,
        unit: "×",
        value: rangeOf(results.map((repetition) => quotient(repetition.get(subject), "lastTenthMs", "firstTenthMs"))),
      });
  }
  if (workload === "crowd") {
    for (const subject of subjects)
      rows.push({
        what: `memory per agent of ${sizes.agents}, peak with garbage`,
        subject,
        unit: "KiB",
        value: rangeOf(figuresOf(results, subject, "rssKib")),
        ...(subject === "keelson" && { target: 200 }),
      });
  }
  if (workload === "crowd-heap") {
    for (const subject of subjects)
      rows.push({
        what: `memory per agent of ${sizes.agents}, live heap`,
        subject,
        unit: "KiB",
        value: rangeOf(figuresOf(results, subject, "heapKib")),
      });
  }
  return rows;
}

function quotient(figures: Figures | undefined, above: string, below: string): number {
  return (figures?.[above] ?? Number.NaN) / (figures?.[below] ?? Number.NaN);
}

async function footprint(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (only.includes("import") || only.includes("install")) {
    await using installation = await installStaged();
    if (only.includes("import")) {
      const costs = await measureImport(installation.folder, "keelson", Math.max(repetitions, 9));
      rows.push({
        what: "import over an empty Node",
        subject: "keelson",
        unit: "ms CPU",
        value: rangeOf(costs.map(({ cpuMs, emptyCpuMs }) => cpuMs - emptyCpuMs)),
        target: 40,
      });
      rows.push({
        what: "import over an empty Node",
        subject: "keelson",
        unit: "MiB",
        value: rangeOf(costs.map(({ rssMib, emptyRssMib }) => rssMib - emptyRssMib)),
        target: 10,
      });
    }
    if (only.includes("install")) {
      const { packages, bytes } = weighInstall(installation.folder, "keelson");
      rows.push({ what: "install", subject: "keelson", unit: "MiB", value: rangeOf([bytes / 2 ** 20]), target: 4 });
      rows.push({ what: "install", subject: "keelson", unit: "packages", value: rangeOf([packages.length]), target: 3 });
    }
  }
  if (only.includes("types")) {
    const { output } = await runCommand("npm", ["run", "--silent", "type-cost"]);
    const count = /: (\d+) instantiations/.exec(output)?.[1];
    if (count === undefined) throw new Error(`the type check could not be measured:\n${output}`);
    rows.push({
      what: "type check of one agent with one tool",
      subject: "keelson",
      unit: "instantiations",
      value: rangeOf([Number(count)]),
      target: 2500,
    });
  }
  return rows;
}

const server = spawn(process.execPath, [join(root, "bench", "model-server.ts")], { stdio: ["pipe", "pipe", "inherit"] });
const rows: Row[] = [];
try {
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const baseUrl = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/v1`;
  for (const workload of Object.keys(WORKLOADS).filter((name) => only.includes(name)))
    rows.push(...rowsOf(workload, await repeat(workload, baseUrl)));
} finally {
  server.stdin.end();
}
rows.push(...(await footprint()));

const facts = machineFacts(repetitions, options.quick);
console.log(`${facts}\n\n${textOf(rows)}`);
if (options.record) {
  appendFileSync(join(root, "bench", "history.jsonl"), `${JSON.stringify({ facts, rows })}\n`);
  const page = join(root, "docs", "benchmarks.md");
  writeFileSync(page, intoPage(readFileSync(page, "utf8"), `${facts}\n\n${markdownOf(rows)}`));
}
