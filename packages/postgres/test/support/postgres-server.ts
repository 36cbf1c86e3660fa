import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { eventually } from "../../../restate/test/support/eventually.ts";
import { freePorts } from "../../../restate/test/support/free-ports.ts";
import { serverBinaries } from "./server-binaries.ts";

/** A server of PostgreSQL on a port of its own, which keeps its data in a folder, so that it may be killed and started again. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Its folder, with a log. */
  readonly folder: string;
  connectionString(database?: string, user?: string): string;
  /** A connection of the superuser, for looks and mischief. */
  readonly admin: Sql;
  /** An empty database with a name of its own; its connection string. */
  createDatabase(): Promise<string>;
  /** What it wrote into its log. */
  said(): string;
  /** SIGKILL to the process that has all others as its children. Resolves when that is gone; the others end by themselves. */
  kill(): Promise<void>;
  /** Starts it where it has ended, whoever ended it. Resolves when it takes connections. */
  start(): Promise<void>;
}

/** PostgreSQL refuses to work as root: then it is another user, whom a package of every Linux brings. */
const SERVER_USER = "postgres";
/** So often it is started beside what a killed one left. */
const ATTEMPTS = 100;

export async function startPostgresServer(...settings: readonly string[]): Promise<PostgresServer> {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), "keelson-postgres-"));
  const user = serverUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  execFileSync(
    join(serverBinaries, "initdb"),
    ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
    {
      ...user,
      stdio: "pipe",
    },
  );
  const connectionString = (database = "postgres", as = "postgres"): string => `postgres://${as}@127.0.0.1:${port}/${database}`;
  const admin = postgres(connectionString(), { max: 2, onnotice: () => {}, backoff: () => 0.05 });
  const logPath = join(folder, "postgres.log");
  const given = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    // Processes are killed here, not the power: what is handed to the operating system survives that.
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=32MB",
    "max_connections=200",
    "wal_level=minimal",
    "max_wal_senders=0",
    "autovacuum_naptime=1h",
    ...settings,
  ];
  let server: ChildProcess | undefined;
  let databases = 0;

  const isRunning = (): boolean => server?.exitCode === null && server.signalCode === null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || !isRunning()) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  };
  const launch = (): void => {
    const output = openSync(logPath, "a");
    try {
      server = spawn(join(serverBinaries, "postgres"), ["-D", data, ...given.flatMap((setting) => ["-c", setting])], {
        ...user,
        stdio: ["ignore", output, output],
      });
    } finally {
      closeSync(output);
    }
  };

  const running: PostgresServer = {
    port,
    folder,
    connectionString,
    admin,
    async createDatabase() {
      const name = `test_${++databases}`;
      await admin.unsafe(`CREATE DATABASE ${name} STRATEGY file_copy`);
      return connectionString(name);
    },
    said: () => readFileSync(logPath, "utf8"),
    async start() {
      for (let attempt = 0; ; attempt++) {
        const before = existsSync(logPath) ? running.said().length : 0;
        const isLaunched = !isRunning();
        if (isLaunched) launch();
        const isUp = await eventually("a PostgreSQL server that takes connections or ends", async () => {
          if (!isRunning()) return false;
          await admin`SELECT 1`;
          return true;
        });
        if (isUp) return;
        const said = running.said().slice(before);
        // Those of a killed server notice within moments that it is gone, and only then let go of its memory.
        const isEarly = said.includes("pre-existing shared memory block");
        if ((isLaunched && !isEarly) || attempt === ATTEMPTS) throw new Error(`The PostgreSQL server ended: ${said.slice(-2000)}`);
      }
    },
    async kill() {
      await end("SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      await admin.end({ timeout: 1 });
      // At once: what it holds is thrown away, and its disk may be full.
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await running.start();
  return running;
}

/** Whom the server works as; nobody else than whoever runs the tests, unless that is root. */
export function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${SERVER_USER}:`) || one.startsWith("nobody:"));
  const [, , uid, gid] = (line ?? "").split(":");
  if (uid === undefined || gid === undefined)
    throw new Error("PostgreSQL refuses to work as root, and there is no other user here: add one.");
  return { uid: Number(uid), gid: Number(gid) };
}
