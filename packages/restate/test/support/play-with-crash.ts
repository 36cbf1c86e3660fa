import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog, type Decision, type OpenQuestion } from "@keelson/protocol";
import {
  countedCalls,
  playScenario,
  writeFaults,
  type EngineScenario,
  type PlayedScenario,
  type ScenarioServices,
} from "keelson/testing/engines";
import { openRestateEngine } from "./restate-engine.ts";
import type { RestateServer } from "./restate-server.ts";
import { startWorker, type WorkerProcess } from "./worker-process.ts";

export interface Crash {
  /** Who is killed. */
  readonly who: "worker" | "server";
  /** At which place of the worker. */
  readonly at: number;
}

export interface CrashedScenario {
  readonly faults: readonly string[];
  /** What the worker passed until it was killed, or until the end. */
  readonly places: readonly string[];
  /** True if the process was killed. */
  readonly hasCrashed: boolean;
  /** Writes of which nobody knew whether they had run, and about which the run asked. */
  readonly unknown: readonly string[];
}

const TIMEOUT_MS = 60_000;
let plays = 0;

/** Plays a scenario in a directory and under a name of its own, while a process is killed on the way and started again. */
export async function playWithCrash(
  server: RestateServer,
  scenario: EngineScenario,
  crash: Crash | undefined,
  ...more: readonly string[]
): Promise<CrashedScenario> {
  const directory = await mkdtemp(join(tmpdir(), "keelson-crash-"));
  const name = `play${plays++}`;
  const args = ["--directory", directory, "--ingress", server.ingress, "--name", name, ...more];
  const crashing = crash === undefined ? [] : [crash.who === "worker" ? "--kill-at" : "--wait-at", String(crash.at)];
  const worker = await startWorker("scenario-worker.ts", [...args, ...crashing]);
  const engine = openRestateEngine(directory, server.ingress, name);
  const unknown: string[] = [];
  const recovery = crash?.who === "server" ? restartServer(server, worker) : restartWorker(worker, args);
  const faults: string[] = [];
  let hasCrashed = false;
  try {
    await server.register(worker.url);
    const played = await playScenario(scenario, engine, AbortSignal.timeout(TIMEOUT_MS), (question) => {
      unknown.push(question.operation);
      return truthAbout(engine.services, question);
    });
    faults.push(...faultsOf(scenario, played));
  } catch (error) {
    faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await worker.kill("SIGTERM");
    const { wasKilled, second } = await recovery;
    hasCrashed = wasKilled;
    await second?.kill();
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
  return { faults, places: passedPlaces(worker), hasCrashed, unknown };
}

/** A process that was killed on the way. */
interface Recovery {
  readonly wasKilled: boolean;
  /** The worker that took the place of a killed one. */
  readonly second?: WorkerProcess;
}

/** Starts another worker at the address of one that was killed. */
async function restartWorker(worker: WorkerProcess, args: readonly string[]): Promise<Recovery> {
  if ((await worker.gone) !== "SIGKILL") return { wasKilled: false };
  return { wasKilled: true, second: await startWorker("scenario-worker.ts", [...args, "--port", String(worker.port)]) };
}

/** Kills the server while the worker waits at its place, and starts it again when the worker has continued. */
async function restartServer(server: RestateServer, worker: WorkerProcess): Promise<Recovery> {
  const isWaiting = await Promise.race([worker.line("waiting ").then(() => true), worker.gone.then(() => false)]).catch(() => false);
  if (!isWaiting) return { wasKilled: false };
  await server.kill();
  worker.goOn();
  await server.start();
  return { wasKilled: true };
}

/** Returns the places that a worker passed until it was killed, or until the end. */
function passedPlaces({ lines }: WorkerProcess): readonly string[] {
  return lines.filter((line) => line.startsWith("place ")).map((line) => line.split(" ").slice(3).join(" "));
}

/** What is to be done about a write that may have run: the world is asked. */
async function truthAbout({ directory, log }: ScenarioServices, { session, operation, callId }: OpenQuestion): Promise<Decision> {
  const done = new Set(countedCalls(directory, session).map(({ idempotencyKey }) => idempotencyKey));
  for await (const { type, data } of log.read(sessionLog(session)))
    if (type === "tool-reserved" && data["callId"] === callId && done.has(data["idempotencyKey"] as string))
      return { type: "supply", output: `${operation} is done` };
  return { type: "retry" };
}

function faultsOf(scenario: EngineScenario, { reason, text, output, calls }: PlayedScenario): readonly string[] {
  const faults = [...writeFaults(scenario, calls)];
  const { ends } = scenario;
  if (reason !== ends.reason) faults.push(`it ended with ${reason}, not ${ends.reason}`);
  if (ends.text !== undefined && text !== ends.text) faults.push(`it said "${text}", not "${ends.text}"`);
  if (ends.output !== undefined && JSON.stringify(output) !== JSON.stringify(ends.output)) faults.push(`it gave ${JSON.stringify(output)}`);
  return faults;
}
