import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { LoggerTransport } from "@restatedev/restate-sdk";
import type { AnyRunner } from "keelson/orchestration";
import { systemClock, type Clock } from "keelson/session";
import { checkOptionNames } from "keelson/state/kit";
import { DEFAULT_JOURNAL_RETENTION_MS, DEFAULT_NAME, DEFAULT_TURN_TIMEOUT_MS, serviceNames } from "./service-options.ts";

export interface ServeRestateOptions {
  /** Default 9080, as Restate's own examples; 0 takes one that is free. */
  readonly port?: number | undefined;
  /** The address to listen at. Default 127.0.0.1: whoever reaches the endpoint can work runs. */
  readonly host?: string | undefined;
  /** The public keys (`publickeyv1_…`) of the servers that may call. Without them, whoever reaches the endpoint may. */
  readonly identityKeys?: readonly string[] | undefined;
  /** The name of the service, and what that of its objects begins with. Default "keelson". */
  readonly name?: string | undefined;
  /** How long Restate keeps the journals of what is done, for its own tools. Default: an hour. */
  readonly journalRetentionMs?: number | undefined;
  /** After how long Restate takes a turn for stalled, lets go of it and has it worked again. Default: an hour. */
  readonly turnTimeoutMs?: number | undefined;
  /** How long `close` lets turns that are under way come to their end. Default 5 s. What is cut off goes on elsewhere. */
  readonly graceMs?: number | undefined;
  /** Of the runner, where it has one of its own: tells how long a timer still has to run. */
  readonly clock?: Clock | undefined;
  /** Is told what Restate's SDK has to say. Default: the console. */
  readonly logger?: LoggerTransport | undefined;
}

export interface RestateEndpoint extends AsyncDisposable {
  readonly port: number;
  /** What Restate is to be told: `restate deployments register <url>`. */
  readonly url: string;
  /** Takes no new work, lets what is under way end for a while, then lets go of it. Nothing is written after it has resolved. */
  close(): Promise<void>;
}

/**
 * Serves the runs of a runner to Restate, which calls it for each turn. The runner's log is where they live: all workers and all builds
 * of one application share it.
 *
 * ```ts
 * const runner = createRunner({ agent, log, orchestrator: createRestateOrchestrator({ ingress: "http://localhost:8080" }) });
 * const { url } = await serveRestate(runner, { port: 9080 }); // then: restate deployments register <url>
 * ```
 */
export async function serveRestate(runner: AnyRunner, options: ServeRestateOptions = {}): Promise<RestateEndpoint> {
  checkOptionNames("serveRestate", options, {
    port: true,
    host: true,
    identityKeys: true,
    name: true,
    journalRetentionMs: true,
    turnTimeoutMs: true,
    graceMs: true,
    clock: true,
    logger: true,
  });
  const {
    port = 9080,
    host = "127.0.0.1",
    identityKeys,
    name = DEFAULT_NAME,
    journalRetentionMs = DEFAULT_JOURNAL_RETENTION_MS,
    turnTimeoutMs = DEFAULT_TURN_TIMEOUT_MS,
    graceMs = 5000,
    clock = systemClock,
    logger,
  } = options;
  const names = serviceNames(name);
  const turns = new Set<Promise<unknown>>();
  const track = async <T>(turn: Promise<T>): Promise<T> => {
    turns.add(turn);
    try {
      return await turn;
    } finally {
      turns.delete(turn);
    }
  };
  const closing = new AbortController();
  // Clients import this package, too, and need nothing of Restate's SDK.
  const { endpointHandler } = await import("./endpoint-handler.ts");
  const handler = endpointHandler(runner, {
    names,
    journalRetentionMs,
    turnTimeoutMs,
    clock,
    track,
    closing: closing.signal,
    identityKeys,
    logger,
  });
  // Over HTTP/1.1 each step of an invocation would cost a request of its own.
  const server = createServer(handler);
  const connections = new Set<ServerHttp2Session>();
  server.on("session", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port: bound } = server.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of connections) connection.close();
    const timer = setTimeout(() => connections.forEach((connection) => connection.destroy()), graceMs);
    await ended;
    clearTimeout(timer);
    // What was cut off still gives its lease back.
    await Promise.allSettled(turns);
  };
  const endpoint = { port: bound, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, close: () => (closed ??= close()) };
  return { ...endpoint, [Symbol.asyncDispose]: endpoint.close };
}
