import type * as Http from "node:http";
import type * as Https from "node:https";
import type { Readable } from "node:stream";
import { ModelError } from "@keelson/protocol";
import { AnswerBuffer } from "./answer-buffer.ts";
import { cancelled, connectionFailed, timedOut } from "./transport-failure.ts";
import { DEFAULT_TIMEOUTS } from "./timeouts.ts";
import type { Transport, TransportAnswer, TransportOptions, TransportRequest } from "./transport.ts";

export type TlsOptions = Pick<
  Https.AgentOptions,
  "ca" | "cert" | "key" | "pfx" | "passphrase" | "rejectUnauthorized" | "servername" | "minVersion" | "maxVersion" | "ciphers"
>;

/** How long an unused connection is kept: shorter than the load balancers of the vendors do. */
const FREE_SOCKET_MS = 60_000;

/** Up to this size a request is put together in one piece. */
const ONE_WRITE_BYTES = 64 * 1024;

interface Target {
  readonly host: string;
  readonly http: typeof Http | typeof Https;
  readonly options: Http.RequestOptions;
}

/** HTTP over Node's own client with kept-alive connections; `node:http` is loaded by the first request. */
export function createNodeTransport(options: Omit<TransportOptions, "fetch">): Transport {
  const agents = new Map<"http:" | "https:", Http.Agent>();
  // Providers ask for one address over and over.
  let lastUrl: string | undefined;
  let lastTarget: Target | undefined;

  function agentFor(protocol: "http:" | "https:"): Http.Agent {
    let agent = agents.get(protocol);
    if (agent === undefined) {
      const settings: Https.AgentOptions & { proxyEnv?: NodeJS.ProcessEnv } = {
        keepAlive: true,
        scheduling: "lifo",
        timeout: FREE_SOCKET_MS,
      };
      const proxyEnv = proxyVariables(options.proxyEnvironment);
      if (proxyEnv !== undefined) settings.proxyEnv = proxyEnv;
      agent = protocol === "https:" ? new (https().Agent)({ ...settings, ...options.tls }) : new (http().Agent)(settings);
      agents.set(protocol, agent);
    }
    return agent;
  }

  function targetOf(request: TransportRequest): Target {
    if (lastTarget !== undefined && lastUrl === request.url) return lastTarget;
    let url: URL;
    try {
      url = new URL(request.url);
    } catch (cause) {
      throw new ModelError(
        { kind: "invalid-request", message: `"${request.url}" is no URL: correct baseUrl`, ...request.origin },
        { cause },
      );
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new ModelError({
        kind: "invalid-request",
        message: `"${request.url}" is neither http nor https: correct baseUrl`,
        ...request.origin,
      });
    }
    const hostname = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
    lastUrl = request.url;
    lastTarget = {
      host: url.host,
      http: url.protocol === "https:" ? https() : http(),
      options: {
        protocol: url.protocol,
        hostname,
        port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port,
        path: url.pathname + url.search,
        agent: agentFor(url.protocol),
      },
    };
    return lastTarget;
  }

  return {
    async send(request) {
      if (request.signal?.aborted === true) throw cancelled(request.origin, request.signal.reason);
      const target = targetOf(request);
      return new Promise<TransportAnswer>((resolve, reject) => new Exchange(request, target, resolve, reject).start());
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
      lastTarget = undefined;
    },
  };
}

/** One request and its answer: owns the timers and the abort listener, and drops them with the last byte. */
class Exchange {
  readonly #request: TransportRequest;
  readonly #target: Target;
  readonly #resolve: (answer: TransportAnswer) => void;
  readonly #reject: (failure: ModelError) => void;
  readonly #timeouts: typeof DEFAULT_TIMEOUTS;
  #client: Http.ClientRequest | undefined;
  #buffer: AnswerBuffer | undefined;
  #phaseTimer: NodeJS.Timeout | undefined;
  #totalTimer: NodeJS.Timeout | undefined;
  #connected = false;
  #settled = false;

  constructor(
    request: TransportRequest,
    target: Target,
    resolve: (answer: TransportAnswer) => void,
    reject: (failure: ModelError) => void,
  ) {
    this.#request = request;
    this.#target = target;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timeouts = request.timeouts === undefined ? DEFAULT_TIMEOUTS : { ...DEFAULT_TIMEOUTS, ...request.timeouts };
  }

  start(): void {
    const { body = [], headers, method, signal, origin } = this.#request;
    const { totalMs } = this.#timeouts;
    let length = 0;
    for (const part of body) length += part.length;
    try {
      this.#client = this.#target.http.request({
        ...this.#target.options,
        method,
        headers: method === "GET" ? headers : { ...headers, "content-length": length },
      });
    } catch (cause) {
      // Header values and paths that HTTP cannot carry.
      this.#fail(
        new ModelError(
          {
            kind: "invalid-request",
            message: `the request to ${this.#target.host} cannot be sent: ${cause instanceof Error ? cause.message : String(cause)}`,
            ...origin,
          },
          { cause },
        ),
      );
      return;
    }
    const client = this.#client;
    if (totalMs > 0)
      this.#totalTimer = setTimeout(
        () => this.#fail(timedOut(origin, `no whole answer from ${this.#target.host}`, totalMs, "totalMs")),
        totalMs,
      );
    signal?.addEventListener("abort", this.#abort, { once: true });
    client.once("socket", (socket) => {
      const encrypting = (socket as { secureConnecting?: boolean }).secureConnecting;
      if (!socket.connecting && encrypting !== true) this.#waitForBytes();
      else socket.once(encrypting === undefined ? "connect" : "secureConnect", () => this.#waitForBytes());
    });
    // A kept connection is there by then, and needs no timer of its own.
    process.nextTick(() => this.#waitForConnection());
    client.once("response", (response) => this.#answer(response));
    client.on("error", (cause) => this.#fail(connectionFailed(origin, this.#target.host, cause, this.#buffer !== undefined)));
    if (length > ONE_WRITE_BYTES) {
      for (const part of body) client.write(part);
      client.end();
    }
    // As text of one character a byte it goes out together with the headers, in one write without a further copy of bytes.
    else client.end(Buffer.concat(body, length).toString("latin1"), "latin1");
  }

  #answer(response: Http.IncomingMessage): void {
    const source = decoded(response);
    const buffer = new AnswerBuffer({
      pause: () => {
        this.#stopPhaseTimer();
        source.pause();
      },
      resume: () => {
        this.#waitForBytes();
        source.resume();
      },
      destroy: () => {
        this.#settle();
        this.#client?.destroy();
      },
    });
    this.#buffer = buffer;
    this.#phaseTimer?.refresh();
    source.on("data", (chunk: Buffer) => {
      this.#phaseTimer?.refresh();
      buffer.push(chunk);
    });
    source.on("end", () => {
      this.#settle();
      buffer.end();
    });
    const broken = (cause: unknown): void => this.#fail(connectionFailed(this.#request.origin, this.#target.host, cause, true));
    response.on("error", broken);
    if (source !== response) source.on("error", broken);
    response.on("close", () => {
      if (!response.complete) broken(new Error("the server closed it"));
    });
    this.#resolve({
      status: response.statusCode ?? 0,
      header: (name) => {
        const value = response.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
      body: buffer,
    });
  }

  #waitForConnection(): void {
    const { connectMs } = this.#timeouts;
    if (this.#settled || this.#connected || connectMs <= 0) return;
    this.#phaseTimer = setTimeout(
      () => this.#fail(timedOut(this.#request.origin, `no connection to ${this.#target.host}`, connectMs, "connectMs")),
      connectMs,
    );
  }

  /** Starts, or starts anew, the time without a byte. */
  #waitForBytes(): void {
    this.#connected = true;
    this.#stopPhaseTimer();
    const { idleMs } = this.#timeouts;
    if (this.#settled || idleMs <= 0) return;
    this.#phaseTimer = setTimeout(
      () => this.#fail(timedOut(this.#request.origin, `no byte from ${this.#target.host}`, idleMs, "idleMs")),
      idleMs,
    );
  }

  #stopPhaseTimer(): void {
    clearTimeout(this.#phaseTimer);
    this.#phaseTimer = undefined;
  }

  readonly #abort = (): void => this.#fail(cancelled(this.#request.origin, this.#request.signal?.reason));

  #fail(failure: ModelError): void {
    if (this.#settled) return;
    this.#settle();
    this.#client?.destroy();
    if (this.#buffer === undefined) this.#reject(failure);
    else this.#buffer.fail(failure);
  }

  #settle(): void {
    this.#settled = true;
    this.#stopPhaseTimer();
    clearTimeout(this.#totalTimer);
    this.#request.signal?.removeEventListener("abort", this.#abort);
  }
}

/** We ask for no compression; some gateways compress all the same. */
function decoded(response: Http.IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity" || encoding === "") return response;
  const zlib = process.getBuiltinModule("node:zlib");
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? zlib.createGunzip()
      : encoding === "deflate"
        ? zlib.createInflate()
        : encoding === "br"
          ? zlib.createBrotliDecompress()
          : encoding === "zstd"
            ? zlib.createZstdDecompress()
            : undefined;
  if (decoder === undefined) return response;
  response.on("error", (cause) => decoder.destroy(cause));
  return response.pipe(decoder);
}

function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

function https(): typeof Https {
  return process.getBuiltinModule("node:https");
}

const PROXY_VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"] as const;

/** `undefined` when no proxy is named. The agent itself speaks to the proxy: CONNECT for https, absolute addresses for http. */
function proxyVariables(environment: TransportOptions["proxyEnvironment"]): NodeJS.ProcessEnv | undefined {
  if (environment === false) return undefined;
  const from = environment ?? process.env;
  const found = PROXY_VARIABLES.filter((name) => from[name] !== undefined && from[name] !== "");
  if (!found.some((name) => !name.toLowerCase().startsWith("no_"))) return undefined;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major === 24 && minor < 5) {
    throw new ModelError({
      kind: "other",
      message: `${found[0]} is set, but Node ${process.versions.node} cannot use proxies: update Node to 24.5 or later, or pass a fetch that can`,
    });
  }
  return Object.fromEntries(found.map((name) => [name, from[name]]));
}
