import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { Worker } from "node:worker_threads";
import { ModelError, type ModelFailure } from "@keelson/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readWholeText } from "./byte-stream.ts";
import { createTransport } from "./create-transport.ts";
import type { Transport, TransportRequest } from "./transport.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** For 127.0.0.1, signed by itself; nothing where openssl is missing. */
const certificate = ((): { readonly key: Buffer; readonly cert: Buffer } | undefined => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-lost-"));
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
    execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...files], { stdio: "ignore" });
    return { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();

interface Asked {
  readonly socket: Socket;
  /** Of this connection, and how many requests it has carried before. */
  readonly connection: number;
  readonly before: number;
}

interface Serving {
  readonly url: string;
  /** Each request: which connection it came over. */
  readonly asked: number[];
  readonly transport: Transport;
}

/** A server whose requests are over with a "}"; each is done with as told. */
async function serving(secure: boolean, respond: (asked: Asked) => void): Promise<Serving> {
  const asked: number[] = [];
  const sockets: Socket[] = [];
  const connected = (socket: Socket): void => {
    const connection = sockets.push(socket) - 1;
    let before = 0;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      if (!chunk.toString("latin1").endsWith("}")) return;
      asked.push(connection);
      respond({ socket, connection, before: before++ });
    });
  };
  const server = secure && certificate !== undefined ? createTlsServer(certificate, connected) : createServer(connected);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const transport = createTransport({ proxyEnvironment: false, ...(secure && { tls: { ca: certificate?.cert } }) });
  cleanups.push(() => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http${secure ? "s" : ""}://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, transport };
}

function post(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: "POST", url, headers: {}, body: [Buffer.from("{"), Buffer.from("}")], ...more };
}

async function textOf(transport: Transport, request: TransportRequest): Promise<string> {
  return readWholeText((await transport.send(request)).body, []);
}

async function failureOf(promise: Promise<unknown>): Promise<ModelFailure> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (cause: unknown) => cause,
  );
  if (!ModelError.is(error)) throw error;
  return error.failure;
}

/** How a server gives a connection up on which a request has just come. */
const ways: readonly (readonly [string, boolean, (socket: Socket) => void])[] = [
  ["resets it", false, (socket) => socket.resetAndDestroy()],
  ["ends it", false, (socket) => socket.end()],
  ...(certificate === undefined ? [] : tlsWays()),
];

function tlsWays(): typeof ways {
  return [
    ["ends its TLS", true, (socket) => socket.end()],
    ["breaks off its TLS", true, (socket) => socket.destroy()],
  ];
}

describe.each(ways)("a request over a kept connection whose server %s before any byte of a response", (_name, secure, giveUp) => {
  /** A server that keeps two connections and gives both up with their next request. */
  async function twoKept(): Promise<Serving> {
    let together: Socket[] | undefined = [];
    const server = await serving(secure, ({ socket, connection, before }) => {
      if (connection < 2 && before > 0) giveUp(socket);
      else if (together === undefined) socket.write(OK);
      else if (together.push(socket) === 2) {
        for (const each of together) each.write(OK);
        together = undefined;
      }
    });
    const { transport, url, asked } = server;
    expect(await Promise.all([textOf(transport, post(url)), textOf(transport, post(url))])).toEqual(["ok", "ok"]);
    expect(asked.splice(0).toSorted()).toEqual([0, 1]);
    return server;
  }

  it("is a POST that is not sent again unless the caller says so, and the next one goes over a new connection", async () => {
    const { url, asked, transport } = await twoKept();
    expect(await failureOf(transport.send(post(url)))).toMatchObject({ kind: "server-error", progress: "sent" });
    expect(asked).toHaveLength(1);
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(asked.slice(1)).toEqual([2]);
  });

  it("is sent once more, over a new connection, if the caller says so", async () => {
    const { url, asked, transport } = await twoKept();
    const told: ModelFailure[] = [];
    const resendLost = (failure: ModelFailure): boolean => told.push(failure) > 0;
    expect(await textOf(transport, post(url, { resendLost, origin: { provider: "p", model: "m" } }))).toBe("ok");
    expect(told).toEqual([expect.objectContaining({ kind: "server-error", progress: "sent", provider: "p", model: "m" })]);
    expect(asked).toEqual([expect.toSatisfy((connection: number) => connection < 2), 2]);
  });

  it("is not sent again where whoever asked says no, whose next one goes over a new connection", async () => {
    const { url, asked, transport } = await twoKept();
    expect(await failureOf(transport.send(post(url, { resendLost: () => false })))).toMatchObject({
      kind: "server-error",
      progress: "sent",
    });
    expect(asked).toHaveLength(1);
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(asked.slice(1)).toEqual([2]);
  });

  it("is not sent again over a connection that was new", async () => {
    const { url, asked, transport } = await serving(secure, ({ socket }) => giveUp(socket));
    expect(await failureOf(transport.send(post(url)))).toMatchObject({ kind: "server-error", progress: "sent" });
    expect(asked).toEqual([0]);
  });

  it("is lost for good where its second try fails, and says that it may have been billed", async () => {
    const { url, asked, transport } = await serving(secure, ({ socket, connection, before }) => {
      if (connection === 0 && before === 0) socket.write(OK);
      else giveUp(socket);
    });
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(await failureOf(transport.send(post(url, { resendLost: () => true })))).toMatchObject({
      kind: "server-error",
      progress: "sent",
    });
    expect(asked).toEqual([0, 0, 1]);
  });

  it("is not sent again once a part of a response came", async () => {
    const { url, asked, transport } = await serving(secure, ({ socket, before }) => {
      if (before === 0) socket.write(OK);
      else socket.write("HTTP/1.1 2", () => giveUp(socket));
    });
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(await failureOf(transport.send(post(url)))).toMatchObject({ kind: "server-error", progress: "sent" });
    expect(asked).toEqual([0, 0]);
  });
});

describe("a request that is sent once more", () => {
  it("is a GET without any option, because it changes nothing", async () => {
    const asked: string[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(request.method ?? "");
      if (asked.length === 2) request.socket.resetAndDestroy();
      else response.end("ok");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = createTransport({ proxyEnvironment: false });
    cleanups.push(() => {
      transport.close();
      server.close();
    });
    const get = (): Promise<string> =>
      textOf(transport, { method: "GET", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, headers: {} });
    expect(await get()).toBe("ok");
    expect(await get()).toBe("ok");
    expect(asked).toEqual(["GET", "GET", "GET"]);
  });

  it("has one deadline with its first try", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    cleanups.push(() => vi.useRealTimers());
    const again = Promise.withResolvers<void>();
    const { url, asked, transport } = await serving(false, ({ socket, connection, before }) => {
      if (connection > 0) again.resolve();
      else if (before === 0) socket.write(OK);
      else {
        vi.advanceTimersByTime(600);
        socket.resetAndDestroy();
      }
    });
    expect(await textOf(transport, post(url))).toBe("ok");
    const waiting = failureOf(transport.send(post(url, { timeouts: { totalMs: 1000, idleMs: 0 }, resendLost: () => true })));
    await again.promise;
    vi.advanceTimersByTime(400);
    expect((await waiting).message).toContain("totalMs");
    expect(asked).toEqual([0, 0, 1]);
  });

  it("is not sent where it was cancelled meanwhile", async () => {
    const { url, asked, transport } = await serving(false, ({ socket, before }) => {
      if (before === 0) socket.write(OK);
      else socket.resetAndDestroy();
    });
    expect(await textOf(transport, post(url))).toBe("ok");
    const controller = new AbortController();
    const resendLost = (): boolean => {
      controller.abort();
      return true;
    };
    expect(await failureOf(transport.send(post(url, { resendLost, signal: controller.signal })))).toMatchObject({
      kind: "cancelled",
      progress: "sent",
    });
    // A request of its own that is answered shows that nothing came before it.
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(asked).toEqual([0, 0, 1]);
  });

  it("is found by a process that stood still while its connection was closed", async () => {
    // The server lives in a thread of its own: it closes the connection while this one is held, which can't have seen that yet.
    const closed = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(
      `const { parentPort, workerData } = require("node:worker_threads");
       const sockets = [];
       const server = require("node:net").createServer((socket) => {
         sockets.push(socket);
         socket.on("error", () => {});
         socket.on("data", (chunk) => String(chunk).endsWith("}") && socket.write(${JSON.stringify(OK)}));
       });
       server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
       parentPort.on("message", () => sockets[0].destroy().once("close", () => {
         Atomics.store(workerData, 0, 1);
         Atomics.notify(workerData, 0);
       }));`,
      { eval: true, workerData: closed },
    );
    cleanups.push(() => worker.terminate());
    const [port] = (await once(worker, "message")) as [number];
    const transport = createTransport({ proxyEnvironment: false });
    cleanups.push(() => transport.close());
    const told: ModelFailure[] = [];
    const request = post(`http://127.0.0.1:${port}/`, { resendLost: (failure) => told.push(failure) > 0 });
    expect(await textOf(transport, request)).toBe("ok");
    worker.postMessage("close");
    expect(Atomics.wait(closed, 0, 0, 20_000)).not.toBe("timed-out");
    expect(await textOf(transport, request)).toBe("ok");
    expect(told).toEqual([expect.objectContaining({ progress: "sent" })]);
  });
});
