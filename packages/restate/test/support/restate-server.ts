import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";
import { serverBinary } from "./server-binary.ts";

/** A server of Restate on ports of its own, which keeps its data in a folder, so that it may be killed and started again. */
export interface RestateServer extends AsyncDisposable {
  readonly ingress: string;
  readonly admin: string;
  /** Has the handlers at this address take what comes from now on. */
  register(url: string): Promise<void>;
  /** Rows of the server's own tables (`sys_invocation`, `sys_journal`, …). */
  sql(query: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Does what Restate's own tools do with an invocation: `cancel`, `kill`, `resume`, … */
  tell(invocation: string, what: string): Promise<void>;
  /** SIGKILL: it has no time for anything. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it takes requests. */
  start(): Promise<void>;
  /** Resident memory, in MiB. */
  memoryMiB(): number;
}

export async function startRestateServer(folder: string): Promise<RestateServer> {
  const [node, ingressPort, adminPort] = await freePorts(3);
  const config = join(folder, "restate.toml");
  writeFileSync(
    config,
    [
      `bind-address = "127.0.0.1:${node}"`,
      `advertised-address = "http://127.0.0.1:${node}"`,
      'listen-mode = "tcp"',
      "default-num-partitions = 4",
      'rocksdb-total-memory-size = "256 MiB"',
      'log-filter = "warn"',
      "log-disable-ansi-codes = true",
      "[ingress]",
      `bind-address = "127.0.0.1:${ingressPort}"`,
      "[admin]",
      `bind-address = "127.0.0.1:${adminPort}"`,
      "disable-web-ui = true",
      "",
    ].join("\n"),
  );
  const admin = `http://127.0.0.1:${adminPort}`;
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const logPath = join(folder, "restate.log");
  let server: ChildProcess | undefined;

  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${admin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "accept": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Restate's admin refused ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const running: RestateServer = {
    ingress,
    admin,

    async start() {
      const output = openSync(logPath, "a");
      const started = spawn(
        serverBinary,
        ["--config-file", config, "--base-dir", join(folder, "data"), "--node-name", "one", "--no-logo"],
        {
          stdio: ["ignore", output, output],
          env: { ...process.env, DO_NOT_TRACK: "1", SCARF_ANALYTICS: "false" },
        },
      );
      server = started;
      await eventually("a Restate server that takes requests", async () => {
        if (started.exitCode !== null) throw new Error(`It ended with ${started.exitCode}: ${readFileSync(logPath, "utf8").slice(-2000)}`);
        const healthy = await Promise.all([fetch(`${admin}/health`), fetch(`${ingress}/restate/health`)]);
        return healthy.every(({ ok }) => ok) ? true : undefined;
      });
    },

    async register(uri) {
      await eventually("a deployment", async () => {
        // Another process may have been registered with this port before. Without force, Restate keeps to what it knows of that one.
        await post("/deployments", { uri, force: true });
        return true;
      });
    },

    async sql(query) {
      // A server that has just started is healthy before it has found its partitions, and refuses with 500 until then.
      const { rows } = await eventually(
        `an answer to ${query}`,
        async () => (await post("/query", { query })) as { readonly rows: readonly Readonly<Record<string, unknown>>[] },
      );
      return rows;
    },

    async tell(invocation, what) {
      const response = await fetch(`${admin}/invocations/${invocation}/${what}`, { method: "PATCH" });
      if (!response.ok) throw new Error(`Restate's admin refused to ${what} ${invocation}: ${response.status} ${await response.text()}`);
    },

    async kill() {
      const killed = server;
      if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
      const ended = once(killed, "exit");
      killed.kill("SIGKILL");
      await ended;
    },

    memoryMiB() {
      const status = readFileSync(`/proc/${server?.pid}/status`, "utf8");
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    },

    [Symbol.asyncDispose]: () => running.kill(),
  };
  await running.start();
  return running;
}
