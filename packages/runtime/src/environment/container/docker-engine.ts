import { type ClientRequest, request, type RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { EnvironmentError } from "@keelson/protocol";

/** What is used of the HTTP interface of a Docker daemon. */
export interface DockerEngine {
  /** Rejects with EnvironmentError `provision-failed` where the daemon can't be reached, or answers with a status that is not among `expected`. */
  call(method: "GET" | "POST" | "DELETE", path: string, options?: CallOptions): Promise<EngineAnswer>;
  /** A connection that becomes the stream of a container. */
  upgrade(path: string): Promise<Duplex>;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Beside those below 300. */
  readonly expected?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

export interface EngineAnswer {
  readonly status: number;
  /** JSON, or nothing. */
  readonly body: unknown;
}

const DEFAULT_HOST = "unix:///var/run/docker.sock";
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * @param host as in `DOCKER_HOST`: `unix:///…`, or `tcp://host:port` without TLS
 * @throws EnvironmentError `provision-failed` for other hosts
 */
export function connectToDocker(host: string = DEFAULT_HOST): DockerEngine {
  const address = addressOf(host);
  const begin = (method: string, path: string, headers: RequestOptions["headers"] = {}, signal?: AbortSignal): ClientRequest =>
    request({ ...address, method, path, headers: { host: "docker", ...headers }, agent: false, ...(signal && { signal }) });
  return {
    call: async (method, path, { body, expected = [], signal } = {}) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const headers = text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
        const asked = begin(method, path, headers, signal);
        asked.on("error", (error) => reject(failed(host, `${method} ${path}: ${error.message}`, error)));
        asked.on("response", (response) => {
          const pieces: Buffer[] = [];
          let bytes = 0;
          response.on("data", (piece: Buffer) => {
            bytes += piece.byteLength;
            if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`));
            else pieces.push(piece);
          });
          response.on("error", (error) => reject(failed(host, `${method} ${path}: ${error.message}`, error)));
          response.on("end", () => {
            const status = response.statusCode ?? 0;
            const answer = parsed(Buffer.concat(pieces).toString("utf8"));
            if (status < 300 || expected.includes(status)) resolve({ status, body: answer });
            else reject(failed(host, `${method} ${path} was answered with ${status}: ${messageIn(answer)}`));
          });
        });
        asked.end(text);
      }),
    upgrade: async (path) =>
      new Promise((resolve, reject) => {
        const asked = begin("POST", path, { connection: "Upgrade", upgrade: "tcp" });
        asked.on("error", (error) => reject(failed(host, `POST ${path}: ${error.message}`, error)));
        asked.on("upgrade", (_response, socket, head) => {
          socket.unshift(head);
          resolve(socket);
        });
        asked.on("response", (response) => {
          response.resume();
          reject(failed(host, `POST ${path} was answered with ${response.statusCode}, and no stream`));
        });
        asked.end();
      }),
  };
}

function addressOf(host: string): RequestOptions {
  const [, scheme, rest = ""] = /^([a-z]+):\/\/(.*)$/.exec(host) ?? [];
  if (scheme === "unix") return { socketPath: rest };
  if (scheme === "tcp" || scheme === "http") {
    const { hostname, port } = new URL(`http://${rest}`);
    return { host: hostname, port: port === "" ? 2375 : Number(port) };
  }
  throw failed(host, "only unix:// and tcp:// (without TLS) are spoken here");
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

function messageIn(answer: unknown): string {
  if (typeof answer === "object" && answer !== null && "message" in answer) return String(answer.message);
  return answer === undefined ? "nothing" : String(answer);
}

function failed(host: string, why: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `The Docker daemon at ${host}: ${why}.` }, { cause });
}
