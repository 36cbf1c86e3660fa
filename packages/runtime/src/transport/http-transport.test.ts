import { execFile } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readWholeText } from "./byte-stream.ts";
import { createTransport } from "./create-transport.ts";
import type { Transport, TransportRequest } from "./transport.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

interface RawServer {
  readonly url: string;
  readonly server: Server;
  /** In the order in which they came. */
  readonly sockets: Socket[];
}

/** Takes connections. */
async function listening(connected: (socket: Socket, count: number) => void): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    connected(socket, sockets.push(socket) - 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server, sockets };
}

/** Answers what comes in with bytes written by hand. A request is over with a "}". */
function rawServer(respond: (socket: Socket, count: number, request: string) => void): Promise<RawServer> {
  let count = 0;
  return listening((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (!text.endsWith("}")) return;
      const request = text;
      text = "";
      respond(socket, count, request);
      count += 1;
    });
  });
}

function direct(): Transport {
  const made = createTransport({ proxyEnvironment: false });
  cleanups.push(() => made.close());
  return made;
}

function post(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: "POST", url, headers: {}, body: [Buffer.from("{"), Buffer.from("}")], ...more };
}

async function textOf(transport: Transport, request: TransportRequest): Promise<string> {
  return readWholeText((await transport.send(request)).body, []);
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    (value) => new Error(`succeeded with ${String(value)}`),
    (cause: unknown) => cause,
  );
  if (!ModelError.is(error)) throw error;
  return `${error.failure.kind}: ${error.failure.message}`;
}

describe("a connection", () => {
  it("carries requests one after the other, with their length and without a second host", async () => {
    const requests: string[] = [];
    const { url, sockets } = await rawServer((socket, _count, request) => {
      requests.push(request);
      socket.write(OK);
    });
    const transport = direct();
    expect(await textOf(transport, post(url, { headers: { "x-a": "é" } }))).toBe("ok");
    expect(await textOf(transport, post(url, { headers: { Host: "model.example" } }))).toBe("ok");
    const { host } = new URL(url);
    expect(requests).toEqual([
      `POST / HTTP/1.1\r\nx-a: é\r\ncontent-length: 2\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n{}`,
      "POST / HTTP/1.1\r\nHost: model.example\r\ncontent-length: 2\r\nConnection: keep-alive\r\n\r\n{}",
    ]);
    expect(sockets).toHaveLength(1);
  });

  it("sends headers as they are when it is asked, though they were sent before", async () => {
    const requests: string[] = [];
    const { url } = await rawServer((socket, _count, request) => {
      requests.push(request);
      socket.write(OK);
    });
    const transport = direct();
    const changing = { "x-a": "1" };
    const fixed = Object.freeze({ "x-a": "3", "connection": "keep-alive", "host": "model.example" });
    for (const [headers, value] of [[changing, "1"], [changing, "2"], [fixed], [fixed]] as const) {
      if (value !== undefined) changing["x-a"] = value;
      expect(await textOf(transport, post(url, { headers }))).toBe("ok");
    }
    expect(requests.map((request) => /x-a: .*/.exec(request)?.[0])).toEqual(["x-a: 1", "x-a: 2", "x-a: 3", "x-a: 3"]);
    expect(requests[3]).toBe(requests[2]);
    expect(requests[3]).toBe("POST / HTTP/1.1\r\nx-a: 3\r\nconnection: keep-alive\r\nhost: model.example\r\ncontent-length: 2\r\n\r\n{}");
  });

  it("carries a body of any size unchanged", async () => {
    const lengths: number[] = [];
    const { url } = await rawServer((socket, _count, request) => {
      lengths.push(request.length - request.indexOf("\r\n\r\n") - 4);
      socket.write(OK);
    });
    const transport = direct();
    const part = Buffer.alloc(40_000, 0xc3);
    for (const parts of [1, 2, 50]) {
      await textOf(transport, post(url, { body: [...Array.from({ length: parts }, () => part), new Uint8Array([0x7d])] }));
    }
    expect(lengths).toEqual([40_001, 80_001, 2_000_001]);
  });

  it("takes no answer for the next request from a server that says more than it was asked", async () => {
    const { url, sockets } = await rawServer((socket, count) => socket.write(count === 0 ? OK + OK.replace("ok", "no") : OK));
    const transport = direct();
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("is closed when the server speaks while nothing is asked", async () => {
    const { url, sockets } = await rawServer((socket) => socket.write(OK));
    const transport = direct();
    expect(await textOf(transport, post(url))).toBe("ok");
    sockets[0]?.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
    await once(sockets[0] as Socket, "close");
    expect(await textOf(transport, post(url))).toBe("ok");
  });

  it("is not used again when the server has closed it or will close it", async () => {
    const closing = OK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    const soon = OK.replace("\r\n\r\n", "\r\nkeep-alive: timeout=1\r\n\r\n");
    const { url, sockets } = await rawServer((socket, count) => socket.write([closing, soon, OK, OK][count] as string));
    const transport = direct();
    for (let count = 1; count <= 3; count += 1) {
      expect(await textOf(transport, post(url))).toBe("ok");
      expect(sockets).toHaveLength(count);
    }
    const last = sockets[2] as Socket;
    last.end();
    await once(last, "close");
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(sockets).toHaveLength(4);
  });

  it("is not used again when the response came before the whole request was sent", async () => {
    const sockets: Socket[] = [];
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const transport = direct();
    const huge = [Buffer.alloc(64 * 1024 * 1024)];
    const response = await transport.send(post(url, { body: huge }));
    expect(response.status).toBe(413);
    expect(await readWholeText(response.body, [])).toBe("");
    expect((await transport.send(post(url, { body: huge }))).status).toBe(413);
    expect(sockets).toHaveLength(2);
  });

  it("serves again after a response that ended while nobody read it", async () => {
    const { url, sockets } = await rawServer((socket, count) => {
      const length = 256 * 1024 + count * 1000;
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${"x".repeat(length)}`);
    });
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const transport = createTransport({ agent });
    let before = 0;
    for (let count = 0; count < 40; count += 1) {
      const response = await transport.send(post(url));
      const [socket] = Object.values(agent.sockets).flat() as [Socket];
      // As much waits as is taken unread.
      while (socket.bytesRead < before + 64 * 1024) await setImmediate();
      expect(await readWholeText(response.body, [])).toHaveLength(256 * 1024 + count * 1000);
      before = socket.bytesRead;
    }
    expect(sockets).toHaveLength(1);
  });

  it("passes over interim answers, and reads up to the end of the connection where no length is told", async () => {
    const { url } = await rawServer((socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end"));
    expect(await textOf(direct(), post(url))).toBe("until the end");
  });

  it("says what is wrong with a response, and where it broke off", async () => {
    const { url } = await rawServer((socket, count) => {
      if (count === 0) socket.write("SSH-2.0-OpenSSH\r\n");
      else if (count === 1) socket.end();
      else if (count === 2) socket.end("HTTP/1.1 200 OK\r\ncontent-le");
      else if (count === 3) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsome");
      else if (count === 4) socket.write("HTTP/1.1 200 OK\r\n\r\nuntil the en", () => socket.resetAndDestroy());
      else socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nsome\r\nzz\r\n");
    });
    const transport = direct();
    const { host } = new URL(url);
    const failures: string[] = [];
    for (let count = 0; count < 6; count += 1) failures.push(await failureOf(textOf(transport, post(url))));
    expect(failures).toEqual([
      `server-error: no response from ${host}: the response is malformed: Expected HTTP/, RTSP/ or ICE/`,
      `server-error: no response from ${host}: the server closed the connection`,
      `server-error: no response from ${host}: the server closed the connection`,
      `server-error: the connection to ${host} broke off in the middle of the response: the server closed the connection`,
      `server-error: the connection to ${host} broke off in the middle of the response: read ECONNRESET`,
      `server-error: the connection to ${host} broke off in the middle of the response: the response is malformed: Invalid character in chunk size`,
    ]);
  });

  it.each([
    [{ "x-bad": "line\r\nx-more: 1" }, "x-bad"],
    [{ "x-bad": "☃" }, "x-bad"],
    [{ "x bad": "1" }, "x bad"],
    [{ "": "1" }, "Header name"],
    [{ "x-unset": undefined }, "x-unset"],
    [{ "Content-Length": "5" }, "leave it out"],
    [{ "transfer-encoding": "chunked" }, "leave it out"],
  ])("sends no header that would be read otherwise than it was meant: %j", async (headers, message) => {
    const { url, sockets } = await rawServer((socket) => socket.write(OK));
    const failure = await failureOf(textOf(direct(), post(url, { headers: headers as unknown as Record<string, string> })));
    expect(failure).toMatch(/^invalid-request: /);
    expect(failure).toContain(message);
    expect(sockets).toHaveLength(0);
  });

  it("lives until its response has ended when the transport is closed meanwhile, and no longer", async () => {
    const { url, sockets } = await rawServer((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no"));
    const transport = direct();
    const response = await transport.send(post(url));
    transport.close();
    sockets[0]?.write("k");
    expect(await readWholeText(response.body, [])).toBe("ok");
    await once(sockets[0] as Socket, "close");
  });

  it("does not keep the process alive while nothing is asked", async () => {
    const { url } = await rawServer((socket) => socket.write(OK));
    const source = `
      import { createTransport } from ${JSON.stringify(new URL("create-transport.ts", import.meta.url).href)};
      const answer = await createTransport().send({ method: "POST", url: ${JSON.stringify(url)}, headers: {}, body: [Buffer.from("{}")] });
      process.stdout.write(Buffer.from(await answer.body.read()));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "-e", source], {
      timeout: 30_000,
    });
    expect(stdout).toBe("ok");
  });

  it("lets its next response be read when the one before was slow to decode", async () => {
    // The compressed response has come whole, and the connection serves another, while the first is still being decoded and fails.
    const broken = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope";
    const { url } = await rawServer((socket, count) => socket.write(count === 0 ? broken : OK));
    const transport = direct();
    const first = await transport.send(post(url));
    const second = textOf(transport, post(url));
    expect(await failureOf(readWholeText(first.body, []))).toContain("broke off");
    expect(await second).toBe("ok");
  });
});

describe("an answer", () => {
  it("that is damaged anywhere is refused with a reason, or read to its end; never is it waited for", async () => {
    let bytes = Buffer.alloc(0);
    const { url } = await rawServer((socket) => socket.end(bytes));
    const sound = fc.constantFrom(
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx: y\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nt: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nhello",
      "HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.0 500 Oh\r\ncontent-length: 2\r\n\r\nno",
    );
    const damage = fc.record({
      at: fc.nat(),
      cut: fc.nat({ max: 3 }),
      put: fc.constantFrom("", "\r", "\n", "\r\n", " ", ":", ",", "0", "5", "a", "\0", "é", "-", ";"),
    });
    const transport = direct();
    const seen = { refused: 0, read: 0 };
    await fc.assert(
      fc.asyncProperty(sound, fc.array(damage, { minLength: 0, maxLength: 3 }), async (text, damages) => {
        let damaged = text;
        for (const { at, cut, put } of damages) {
          const place = at % (damaged.length + 1);
          damaged = damaged.slice(0, place) + put + damaged.slice(place + cut);
        }
        bytes = Buffer.from(damaged, "latin1");
        try {
          await textOf(transport, post(url));
          seen.read += 1;
        } catch (error) {
          expect(ModelError.is(error, "server-error") && error.message).toMatch(
            /^(?:no response from|the connection to) 127\.0\.0\.1:\d+.*: (?:the server closed|the response is malformed: .)/,
          );
          seen.refused += 1;
        }
      }),
      { numRuns: 300 },
    );
    expect(Math.min(seen.refused, seen.read)).toBeGreaterThan(20);
  });

  it("whose head is longer than 64 KiB is refused, a shorter one is read", async () => {
    const { url } = await rawServer((socket, count) =>
      socket.write(OK.replace("\r\n\r\n", `\r\nx: ${"y".repeat(count === 0 ? 60_000 : 70_000)}\r\n\r\n`)),
    );
    const transport = direct();
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(await failureOf(textOf(transport, post(url)))).toMatch(
      /^server-error: no response from .*: the response is malformed: .*overflow/i,
    );
  });

  it("has no deadline for the time in which nobody reads it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    cleanups.push(() => vi.useRealTimers());
    const sent = Promise.withResolvers<void>();
    const { url } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 400001\r\n\r\n${"x".repeat(400_000)}`, () => sent.resolve());
    });
    const response = await direct().send(post(url, { timeouts: { idleMs: 150, totalMs: 0 } }));
    await sent.promise;
    vi.advanceTimersByTime(60_000);
    let length = 0;
    while (length < 400_000) length += (await response.body.read())?.length ?? 0;
    expect(length).toBe(400_000);
    const waiting = expect(response.body.read()).rejects.toThrow("idleMs");
    vi.advanceTimersByTime(150);
    await waiting;
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const)("that unpacks to a thousand times its size is refused: %s", async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(72 * 1024 * 1024, 32));
    const { url } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const transport = createTransport({ proxyEnvironment: {} });
    cleanups.push(() => transport.close());
    const response = await transport.send({ method: "POST", url, headers: {}, body: [Buffer.from("{}")] });
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for (let chunk = await response.body.read(); chunk !== undefined; chunk = await response.body.read()) bytes += chunk.length;
    };
    await expect(reading()).rejects.toThrow(/unpacks to more than 250 times its size/);
    expect(bytes).toBeLessThanOrEqual(65 * 1024 * 1024);
  });

  it.each(["gzip", "deflate", "br", "zstd"])("without a body is whole though it names the encoding %s", async (encoding) => {
    const heads = ["200 OK\r\ncontent-length: 0", "200 OK\r\ntransfer-encoding: chunked", "204 No Content", "304 Not Modified"];
    const { url, sockets } = await rawServer((socket, count) => {
      const end = count === 1 ? "0\r\n\r\n" : "";
      socket.write(`HTTP/1.1 ${heads[count]}\r\ncontent-encoding: ${encoding}\r\n\r\n${end}`);
    });
    const transport = direct();
    for (const _head of heads) expect(await textOf(transport, post(url))).toBe("");
    expect(sockets).toHaveLength(1);
  });

  it("closes its connection when its compressed text has ended and more comes", async () => {
    const text = gzipSync("all");
    const { url, sockets } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${text.length + 100}\r\n\r\n`);
      socket.write(Buffer.concat([text, Buffer.alloc(20)]));
    });
    const closed = direct();
    expect(await textOf(closed, post(url))).toBe("all");
    await once(sockets[0] as Socket, "close");
  });

  it("is left without a wait where it is released and can't be decoded", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    cleanups.push(() => vi.useRealTimers());
    const { url } = await rawServer((socket, count) => {
      socket.write(count > 0 ? OK : "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope");
    });
    const transport = direct();
    await (await transport.send(post(url))).body.release();
    expect(await textOf(transport, post(url))).toBe("ok");
  });

  it("whose compressed text breaks off is refused", async () => {
    const text = gzipSync("all of it").subarray(0, -4);
    const { url } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${text.length}\r\n\r\n`);
      socket.write(text);
    });
    expect(await failureOf(textOf(direct(), post(url)))).toContain("broke off in the middle of the response");
  });
});

it.each([Number.POSITIVE_INFINITY, 2 ** 31])("takes a deadline in %s ms, for which no timer can be set, for none", async (totalMs) => {
  const { url } = await rawServer((socket) => socket.write(OK));
  expect(await textOf(direct(), post(url, { timeouts: { totalMs, idleMs: totalMs, connectMs: totalMs } }))).toBe("ok");
});
