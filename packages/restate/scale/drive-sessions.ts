// Drives many sessions through a Restate server on this machine, with a model that takes its time, and writes what that costs:
//   node --conditions=source packages/restate/scale/drive-sessions.ts [--sessions 2000] [--turns 3] [--delay-ms 200] [--kill]
// With --kill the worker is killed when a third of the turns is done, and another one started in its place.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { operatorInput } from "keelson/orchestration";
import type { RunId } from "@keelson/protocol";
import { createRestateOrchestrator } from "@keelson/restate";
import { freePorts } from "../test/support/free-ports.ts";
import { journalFaults } from "../test/support/journal-faults.ts";
import { startRestateServer } from "../test/support/restate-server.ts";

const { values } = parseArgs({
  options: {
    "sessions": { type: "string", default: "2000" },
    "turns": { type: "string", default: "3" },
    "delay-ms": { type: "string", default: "200" },
    "kill": { type: "boolean", default: false },
  },
});
const [sessions, turns] = [Number(values.sessions), Number(values.turns)];
/** Requests of this program that are on their way at once. */
const AT_ONCE = 50;

interface Telling {
  readonly turns: number;
  readonly ended: number;
  readonly mostAdvancing: number;
  readonly memoryMiB: number;
  readonly cpuMs: number;
}

const directory = mkdtempSync(join(tmpdir(), "keelson-scale-"));
mkdirSync(join(directory, "restate"));
const server = await startRestateServer(join(directory, "restate"));
const [port = 0] = await freePorts(1);

/** What all workers have told by now, one after the other. */
const told: { last: Telling; peakMiB: number }[] = [];
let wake = (): void => {};
async function startWorker(): Promise<ChildProcess> {
  const script = fileURLToPath(new URL("scale-worker.ts", import.meta.url));
  const args = [
    "--directory",
    directory,
    "--ingress",
    server.ingress,
    "--port",
    String(port),
    "--turns",
    values.turns,
    "--delay-ms",
    values["delay-ms"],
  ];
  const worker = spawn(process.execPath, ["--conditions=source", script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const mine = { last: { turns: 0, ended: 0, mostAdvancing: 0, memoryMiB: 0, cpuMs: 0 }, peakMiB: 0 };
  told.push(mine);
  await new Promise<void>((serving) => {
    createInterface({ input: worker.stdout }).on("line", (line) => {
      const said = JSON.parse(line) as Telling & { readonly serving?: string };
      if (said.serving !== undefined) return serving();
      mine.last = said;
      mine.peakMiB = Math.max(mine.peakMiB, said.memoryMiB);
      wake();
    });
  });
  return worker;
}
const sum = (of: keyof Telling): number => told.reduce((total, { last }) => total + last[of], 0);
async function forEachSession(act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let index = next++; index < sessions; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
}
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => (wake = resolve));
}

let worker = await startWorker();
await server.register(`http://127.0.0.1:${port}`);
const orchestrator = createRestateOrchestrator({ ingress: server.ingress });
let serverPeakMiB = server.memoryMiB();
const watching = setInterval(() => (serverPeakMiB = Math.max(serverPeakMiB, server.memoryMiB())), 250);

const begun = performance.now();
const ids: RunId[] = [];
const starting = forEachSession(async () => void ids.push(await orchestrator.start("bee", operatorInput("Write.", "user")))).then(
  () => (performance.now() - begun) / 1000,
);

let backAfterMs: number | undefined;
if (values.kill) {
  await until(() => sum("turns") >= (sessions * turns) / 3);
  worker.kill("SIGKILL");
  const killed = performance.now();
  worker = await startWorker();
  const mine = told.at(-1);
  await until(() => (mine?.last.turns ?? 0) > 0);
  backAfterMs = performance.now() - killed;
}
const startedSeconds = await starting;
// What a killed worker ended is not told by it to the last.
const open = async (): Promise<number> =>
  Number((await server.sql("SELECT count(*) AS n FROM sys_invocation WHERE status <> 'completed'"))[0]?.["n"]);
await until(() => sum("ended") >= sessions || values.kill);
while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
const seconds = (performance.now() - begun) / 1000;
clearInterval(watching);
const faults = await journalFaults(server);
let ended = 0;
await forEachSession(async (index) => {
  const { message } = await orchestrator.attach(ids[index] as RunId);
  if (JSON.stringify(message).includes("Done.")) ended++;
});
worker.kill("SIGTERM");
await server.kill();

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + statSync(join(entry.parentPath, entry.name)).size, 0);
const kib = (bytes: number): number => Math.round(bytes / 1024 / sessions);
const figures = {
  machine: `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  sessions,
  ended,
  turns,
  delayMs: Number(values["delay-ms"]),
  startsPerSecond: Math.round(sessions / startedSeconds),
  seconds: Math.round(seconds * 10) / 10,
  sessionsPerSecond: Math.round(sessions / seconds),
  turnsPerSecond: Math.round((sessions * turns) / seconds),
  workerCpuMsPerTurn: Math.round((sum("cpuMs") / sessions / turns) * 100) / 100,
  turnsAtOnce: Math.max(...told.map(({ last }) => last.mostAdvancing)),
  workerPeakMiB: Math.max(...told.map(({ peakMiB }) => peakMiB)),
  serverPeakMiB: Math.round(serverPeakMiB),
  logKibPerSession: kib(
    ["", "-wal"].reduce((total, end) => total + (statSync(`${directory}/sessions.db${end}`, { throwIfNoEntry: false })?.size ?? 0), 0),
  ),
  restateKibPerSession: kib(bytesIn(join(directory, "restate", "data"))),
  journalFaults: faults.length,
  ...(backAfterMs !== undefined && { backAfterKillMs: Math.round(backAfterMs) }),
};
console.log(JSON.stringify(figures, undefined, 2));
rmSync(directory, { recursive: true, force: true });
