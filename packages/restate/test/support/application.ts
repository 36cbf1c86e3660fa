import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog, type EventLog, type LogRecord, type SessionId } from "@keelson/protocol";
import { createRestateOrchestrator, type RestateOrchestrator } from "@keelson/restate";
import { openServices } from "./open-services.ts";
import { startRestateServer, type RestateServer } from "./restate-server.ts";
import { startWorker, type WorkerProcess } from "./worker-process.ts";

/** A server of Restate, a directory for the workers of one application, and a client of it. */
export interface Application extends AsyncDisposable {
  readonly directory: string;
  readonly server: RestateServer;
  readonly orchestrator: RestateOrchestrator;
  /** Starts a worker with the example agents, and has it take what comes from now on. */
  worker(...args: readonly string[]): Promise<WorkerProcess>;
  readonly log: EventLog;
  records(session: string): Promise<readonly LogRecord[]>;
}

export async function startApplication(): Promise<Application> {
  const directory = await mkdtemp(join(tmpdir(), "keelson-restate-"));
  await mkdir(join(directory, "restate"));
  const server = await startRestateServer(join(directory, "restate"));
  const services = openServices(directory);
  const workers: WorkerProcess[] = [];
  return {
    directory,
    server,
    log: services.log,
    orchestrator: createRestateOrchestrator({ ingress: server.ingress }),
    async worker(...args) {
      const worker = await startWorker("example-worker.ts", ["--directory", directory, "--ingress", server.ingress, ...args]);
      workers.push(worker);
      await server.register(worker.url);
      return worker;
    },
    async records(session) {
      const records: LogRecord[] = [];
      for await (const record of services.log.read(sessionLog(session as SessionId))) records.push(record);
      return records;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.kill()));
      await server.kill();
      await services[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
