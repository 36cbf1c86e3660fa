import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { ModelError, type ModelFailure } from "@keelson/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readTextUpTo, readWholeText } from "./byte-stream.ts";
import { createTransport, type TransportOptions } from "./create-transport.ts";
import type { FetchLike, Transport, TransportRequest } from "./transport.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen<S extends Server | TcpServer>(server: S): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const openssl = ((): boolean => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

let made: Certificate | undefined;

/** For 127.0.0.1, signed by itself. */
function certificate(): Certificate {
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), "keelson-tls-"));
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...files], { stdio: "ignore" });
  made = { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) };
  rmSync(folder, { recursive: true });
  return made;
}

async function serve(handler: RequestListener, secure = false): Promise<{ url: string; server: Server; port: number }> {
  const server = secure ? createTlsServer(certificate(), handler) : createServer(handler);
  const port = await listen(server);
  return { url: `http${secure ? "s" : ""}://127.0.0.1:${port}/`, server, port };
}

function transport(options: TransportOptions = { proxyEnvironment: {} }): Transport {
  const made = createTransport(options);
  cleanups.push(() => made.close());
  return made;
}

function post(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: "POST", url, headers: {}, body: [Buffer.from("{"), Buffer.from("}")], origin: { provider: "p", model: "m" }, ...more };
}

async function failureOf(promise: Promise<unknown>): Promise<ModelFailure> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!ModelError.is(error)) throw new Error("expected a ModelError", { cause: error });
  return error.failure;
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => resolve(text));
  });
}

const echo: RequestListener = (request, response) => {
  void bodyOf(request).then((body) => response.end(`${request.method} ${request.url} ${request.headers["content-length"] ?? "-"} ${body}`));
};

const EXEMPT = { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" };

interface Kind {
  readonly name: string;
  readonly make: () => Transport;
  readonly secure: boolean;
}

const kinds: readonly Kind[] = [
  { name: "kept connections", make: () => transport(), secure: false },
  { name: "kept connections beside a proxy", make: () => transport({ proxyEnvironment: EXEMPT }), secure: false },
  { name: "a passed fetch", make: () => createTransport({ fetch: globalThis.fetch as FetchLike }), secure: false },
  ...(openssl ? tlsKinds() : []),
];

/** Without openssl there is no certificate to try it with. */
function tlsKinds(): readonly Kind[] {
  const tls = { ca: certificate().cert };
  return [
    { name: "TLS", make: () => transport({ proxyEnvironment: {}, tls }), secure: true },
    { name: "TLS beside a proxy", make: () => transport({ proxyEnvironment: EXEMPT, tls }), secure: true },
  ];
}

describe.each(kinds)("over $name", ({ make, secure }) => {
  it("carries a body in parts, status, headers and the response", async () => {
    const { url } = await serve((request, response) => {
      void bodyOf(request).then((body) => {
        response.writeHead(418, { "x-two": ["a", "b"], "x-echo": request.headers["x-mine"] });
        response.end(`${request.method} ${body}`);
      });
    }, secure);
    const response = await make().send(post(url, { headers: { "x-mine": "yes" } }));
    expect([response.status, response.header("x-two"), response.header("x-echo"), response.header("x-none")]).toEqual([
      418,
      "a, b",
      "yes",
      undefined,
    ]);
    expect(await readWholeText(response.body, [])).toBe("POST {}");
  });

  it("closes the connection when the signal fires, before the response and within it", async () => {
    const arrived = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<ServerResponse>()];
    let count = 0;
    const { url } = await serve((_request, response) => {
      if (count === 1) response.write("first");
      arrived[count++]?.resolve(response);
    }, secure);
    const carrier = make();

    const early = new AbortController();
    const waiting = failureOf(carrier.send(post(url, { signal: early.signal })));
    const first = await arrived[0]?.promise;
    early.abort(new Error("enough"));
    expect((await waiting).kind).toBe("cancelled");
    if (first?.destroyed !== true) await once(first as ServerResponse, "close");

    const late = new AbortController();
    const response = await carrier.send(post(url, { signal: late.signal }));
    expect(Buffer.from((await response.body.read()) ?? []).toString()).toBe("first");
    const rest = failureOf(response.body.read());
    const second = await arrived[1]?.promise;
    late.abort();
    expect((await rest).kind).toBe("cancelled");
    if (second?.destroyed !== true) await once(second as ServerResponse, "close");
  });

  it("does not connect for a signal that has fired already", async () => {
    expect((await failureOf(make().send(post("http://127.0.0.1:9/", { signal: AbortSignal.abort() })))).kind).toBe("cancelled");
  });

  it("fails as retryable when nobody listens, and when the connection breaks off", async () => {
    const { url, server } = await serve((_request, response) => {
      response.write("some", () => response.socket?.destroy());
    }, secure);
    const response = await make().send(post(url));
    const broken = await failureOf(readWholeText(response.body, []));
    expect(broken).toMatchObject({ kind: "server-error", provider: "p", model: "m", message: expect.stringContaining("broke off") });
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
    expect(await failureOf(make().send(post(url)))).toMatchObject({ kind: "server-error", code: "ECONNREFUSED" });
  });

  it("gives up after idleMs without a byte, and after totalMs, naming the option", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/silent") return;
      response.write("x");
      if (request.url === "/drip") {
        const timer = setInterval(() => response.write("x"), 5);
        response.on("close", () => clearInterval(timer));
      }
    }, secure);
    const carrier = make();
    const timeouts = { idleMs: 400, totalMs: 0 };
    expect(await failureOf(carrier.send(post(`${url}silent`, { timeouts })))).toMatchObject({
      kind: "server-error",
      code: "timeout",
      message: expect.stringContaining("idleMs"),
    });
    const stuck = await carrier.send(post(`${url}stuck`, { timeouts }));
    expect(await failureOf(readWholeText(stuck.body, []))).toMatchObject({
      kind: "server-error",
      message: expect.stringContaining("idleMs"),
    });
    const dripping = await carrier.send(post(`${url}drip`, { timeouts: { idleMs: 5000, totalMs: 300 } }));
    expect(await failureOf(readWholeText(dripping.body, []))).toMatchObject({
      kind: "server-error",
      message: expect.stringContaining("totalMs"),
    });
  });

  it("pauses the server while nobody reads, and closes the connection when told to", async () => {
    const whole = 100 * 1024 * 1024;
    const sent: number[] = [];
    const left = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const at = sent.push(0) - 1;
      const pump = (): void => {
        while (!response.destroyed && (sent[at] ?? whole) < whole) {
          sent[at] = (sent[at] ?? 0) + chunk.length;
          if (!response.write(chunk)) {
            response.once("drain", pump);
            return;
          }
        }
        response.end();
      };
      if (at === 0) response.on("close", left.resolve);
      pump();
    }, secure);
    const carrier = make();
    const response = await carrier.send(post(url, { timeouts: { idleMs: 0 } }));
    // A response of the same length that began later is read to its end: only a pause can have held the first one back.
    const other = await carrier.send(post(url, { timeouts: { idleMs: 0 } }));
    let read = 0;
    for (let chunk = await other.body.read(); chunk !== undefined; chunk = await other.body.read()) read += chunk.length;
    expect(read).toBe(whole);
    expect(sent[0]).toBeLessThan(60 * 1024 * 1024);
    expect((await response.body.read())?.length).toBeGreaterThan(0);
    response.body.close();
    await left.promise;
    expect(await response.body.read()).toBeUndefined();
  });

  it("bounds what it reads as a whole", async () => {
    const { url } = await serve((_request, response) => response.end("x".repeat(5000)), secure);
    const carrier = make();
    expect(await failureOf(readWholeText((await carrier.send(post(url))).body, [], 4999))).toMatchObject({
      kind: "max-output-tokens",
      message: expect.stringContaining("4999"),
    });
    expect(await readTextUpTo((await carrier.send(post(url))).body, 10)).toBe("x".repeat(10));
    expect(await readWholeText((await carrier.send(post(url))).body, [], 5000)).toHaveLength(5000);
  });

  it("decodes what a gateway compressed unasked, as fast as it is read", async () => {
    const bytes = 30 * 1024 * 1024;
    const { url } = await serve((request, response) => {
      const text = request.url === "/long" ? Buffer.alloc(bytes) : "data: hello\n\n";
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
    }, secure);
    const carrier = make();
    expect(await readWholeText((await carrier.send(post(url))).body, [])).toBe("data: hello\n\n");
    const { body } = await carrier.send(post(`${url}long`));
    let length = 0;
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      length += chunk.length;
      if (length % 5 === 0) await setImmediate();
    }
    expect(length).toBe(bytes);
  });

  it("refuses at once a response that switches to another protocol", async () => {
    const { url } = await serve((_request, response) => {
      response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n");
    }, secure);
    const failure = await failureOf(make().send(post(url, { timeouts: { idleMs: 2000 } })));
    expect([failure.kind, failure.code]).not.toEqual(["server-error", "timeout"]);
  });

  it("does not follow redirects", async () => {
    const { url } = await serve((_request, response) => response.writeHead(307, { location: "/elsewhere" }).end(), secure);
    const response = await make().send(post(url));
    expect([response.status, response.header("location")]).toEqual([307, "/elsewhere"]);
    await response.body.release();
  });
});

describe("a connection", () => {
  it("keeps a connection whose response was read, or released short of its end", async () => {
    let connections = 0;
    const { url, server } = await serve(echo);
    server.on("connection", () => (connections += 1));
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const carrier = transport({ agent });
    for (let at = 0; at < 3; at += 1) expect(await readWholeText((await carrier.send(post(url))).body, [])).toBe("POST / 2 {}");
    expect(connections).toBe(1);
    const response = await carrier.send(post(url));
    await response.body.release();
    // The rest is read away in its own time; the next response shows that the connection lives.
    if (Object.values(agent.freeSockets).flat().length === 0) await once(agent, "free");
    await readWholeText((await carrier.send(post(url))).body, []);
    expect(connections).toBe(1);
  });

  it("drops a released connection whose rest is long", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      response.on("close", closed.resolve);
      response.write(Buffer.alloc(1024 * 1024));
    });
    await (await transport().send(post(url))).body.release();
    await closed.promise;
  });

  it("gives up when no connection comes to stand within connectMs", async () => {
    // Takes the connection but never shakes hands.
    const port = await listen(createTcpServer(() => undefined));
    const failure = await failureOf(transport().send(post(`https://127.0.0.1:${port}/`, { timeouts: { connectMs: 50 } })));
    expect(failure).toMatchObject({ kind: "server-error", code: "timeout", message: expect.stringContaining("connectMs") });
  });

  it("says what is wrong with an address or a header", async () => {
    expect(await failureOf(transport().send(post("nowhere")))).toMatchObject({
      kind: "invalid-request",
      message: expect.stringContaining("baseUrl"),
    });
    expect(await failureOf(transport().send(post("ftp://host/")))).toMatchObject({
      kind: "invalid-request",
      message: expect.stringContaining("neither http nor https"),
    });
    expect((await failureOf(transport().send(post("http://127.0.0.1:9/", { headers: { "x-bad": "line\nbreak" } })))).kind).toBe(
      "invalid-request",
    );
  });

  it("leaves no timer and no listener behind", async () => {
    const { url } = await serve(echo);
    const carrier = transport();
    const controller = new AbortController();
    let listeners = 0;
    const signal = controller.signal;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      listeners += 1;
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...parameters);
    };
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    await readWholeText((await carrier.send(post(url, { signal }))).body, []);
    expect(listeners).toBe(0);
    expect(timers()).toBeLessThanOrEqual(before); // those of earlier tests may end meanwhile
  });
});

describe("a proxy", () => {
  async function proxy(): Promise<{ url: string; seen: string[] }> {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end("from the proxy");
    });
    server.on("connect", (request, socket: Socket, head: Buffer) => {
      seen.push(`CONNECT ${request.url}`);
      const [host = "", port] = (request.url ?? "").split(":");
      const upstream = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    return { url: `http://127.0.0.1:${await listen(server)}`, seen };
  }

  it("is asked for http addresses, but not for those in NO_PROXY", async () => {
    const { url, seen } = await proxy();
    const direct = await serve(echo);
    const carrier = transport({ proxyEnvironment: { HTTP_PROXY: url, NO_PROXY: "127.0.0.1" } });
    expect(await readWholeText((await carrier.send(post("http://model.invalid/v1/messages"))).body, [])).toBe("from the proxy");
    expect(seen).toEqual(["POST http://model.invalid/v1/messages"]);
    expect(await readWholeText((await carrier.send(post(direct.url))).body, [])).toBe("POST / 2 {}");
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["HTTP_PROXY", "not a proxy", "is no address of a proxy"],
    ["http_proxy", "socks5://127.0.0.1:1080", "names a proxy that speaks socks5"],
    ["http_proxy", "ftp://proxy", "names a proxy that speaks ftp"],
    ["http_proxy", "http://", "is no address of a proxy"],
    ["HTTP_PROXY", "http://127.0.0.1:99999", "is no address of a proxy"],
    ["ALL_PROXY", "socks5h://user:hush@127.0.0.1:1080", "names a proxy that speaks socks5h"],
  ])("that can't be used is an error, and the server is never asked directly: %s=%s", async (name, value, problem) => {
    const asked: string[] = [];
    const { url } = await serve((request, response) => {
      asked.push(request.url ?? "");
      echo(request, response);
    });
    const failure = await failureOf(transport({ proxyEnvironment: { [name]: value } }).send(post(url)));
    expect(failure).toMatchObject({ kind: "other", message: expect.stringContaining(`${name} ${problem}`) });
    expect(failure.message).not.toContain("hush");
    expect(asked).toEqual([]);
    // It is none of the concern of those that are asked without a proxy, or over another.
    const exempt = transport({ proxyEnvironment: { [name]: value, NO_PROXY: "localhost, 127.0.0.1" } });
    expect(await readWholeText((await exempt.send(post(url))).body, [])).toBe("POST / 2 {}");
    const working = await proxy();
    const other = transport({ proxyEnvironment: { ALL_PROXY: value, HTTP_PROXY: working.url } });
    expect(await readWholeText((await other.send(post(url))).body, [])).toBe("from the proxy");
  });

  it("is found as other programs find it: as a host alone, between blanks, for all schemes", async () => {
    const { url, seen } = await proxy();
    const host = url.slice("http://".length);
    for (const environment of [{ http_proxy: host }, { HTTP_PROXY: ` ${url} ` }, { ALL_PROXY: host }, { all_proxy: url, http_proxy: " " }])
      expect(await readWholeText((await transport({ proxyEnvironment: environment }).send(post("http://model.invalid/"))).body, [])).toBe(
        "from the proxy",
      );
    expect(seen).toHaveLength(4);
  });

  it("is not asked when proxies are turned off", async () => {
    const { url } = await serve(echo);
    expect(await readWholeText((await transport({ proxyEnvironment: false }).send(post(url))).body, [])).toBe("POST / 2 {}");
  });

  it("that is not there is a retryable failure", async () => {
    expect(
      (await failureOf(transport({ proxyEnvironment: { http_proxy: "http://127.0.0.1:9" } }).send(post("http://model.invalid/")))).kind,
    ).toBe("server-error");
  });

  it.skipIf(!openssl)(
    "tunnels https by CONNECT; the certificate is checked against tls.ca (skipped where openssl is missing)",
    async () => {
      const { key, cert } = certificate();
      const tlsServer = createTlsServer({ key, cert }, echo);
      const address = `https://127.0.0.1:${await listen(tlsServer)}/v1`;
      const { url, seen } = await proxy();

      const trusting = transport({ tls: { ca: cert }, proxyEnvironment: { HTTPS_PROXY: url } });
      expect(await readWholeText((await trusting.send(post(address))).body, [])).toBe("POST /v1 2 {}");
      expect(seen).toEqual([`CONNECT ${new URL(address).host}`]);

      const direct = transport({ tls: { ca: cert }, proxyEnvironment: {} });
      expect(await readWholeText((await direct.send(post(address))).body, [])).toBe("POST /v1 2 {}");
      const sessions: boolean[] = [];
      tlsServer.on("secureConnection", (socket) => sessions.push(socket.isSessionReused()));
      await Promise.all([1, 2].map(async () => readWholeText((await direct.send(post(address))).body, [])));
      expect(sessions).toEqual([true]);
      expect(await failureOf(transport({ proxyEnvironment: {} }).send(post(address)))).toMatchObject({
        kind: "other",
        message: expect.stringContaining("tls.ca"),
      });
    },
  );
});

describe.skipIf(!openssl)("a session of TLS (skipped where openssl is missing)", () => {
  it("is given up when its connection breaks off, so that the next does not fail for it, too", async () => {
    const { url, server } = await serve((_request, response) => response.setHeader("connection", "close").end("ok"), true);
    const raw = new Map<number | undefined, Socket>();
    server.on("connection", (socket: Socket) => raw.set(socket.remotePort, socket));
    server.on("secureConnection", (socket: TLSSocket) => {
      if (socket.isSessionReused()) raw.get(socket.remotePort)?.resetAndDestroy();
    });
    const carrier = transport({ proxyEnvironment: {}, tls: { ca: certificate().cert } });
    expect(await readWholeText((await carrier.send(post(url))).body, [])).toBe("ok");
    expect((await failureOf(carrier.send(post(url)))).kind).toBe("server-error");
    // The session goes with the "close" of its connection, which comes behind the failure.
    await vi.waitFor(async () => expect(await readWholeText((await carrier.send(post(url))).body, [])).toBe("ok"));
  });
});
