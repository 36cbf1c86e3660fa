import { execFile } from "node:child_process";
import { once } from "node:events";
import { request as nodeRequest } from "node:http";
import net, { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readWholeText } from "./byte-stream.ts";
import { createTransport, type Transport, type TransportRequest } from "./transport.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

interface Answering {
  readonly url: string;
  readonly server: Server;
  /** In the order in which they came. */
  readonly sockets: Socket[];
}

/** Takes connections. */
async function listening(connected: (socket: Socket, count: number) => void): Promise<Answering> {
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
function answering(answer: (socket: Socket, count: number, request: string) => void): Promise<Answering> {
  let count = 0;
  return listening((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (!text.endsWith("}")) return;
      const request = text;
      text = "";
      answer(socket, count, request);
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
  it("leaves a request alone that the system could not take at once, when the next one is written", async () => {
    const received: Buffer[] = [];
    const { url, sockets } = await listening((socket, count) => {
      if (count === 0) socket.once("data", (chunk) => (received.push(chunk), socket.pause()));
    });
    const connect = vi.spyOn(net, "connect");
    cleanups.push(() => connect.mockRestore());
    const transport = direct();
    const bodyOf = (fill: number): Uint8Array[] => [Buffer.alloc(60_000, fill)];
    // The server answers without reading, so that what is sent fills the buffers of the system.
    let fill = 0;
    let pending: Promise<string>;
    for (;;) {
      fill = (fill + 1) % 256;
      pending = textOf(transport, post(url, { body: bodyOf(fill) }));
      while (sockets[0] === undefined || received.length === 0) await setImmediate();
      if ((connect.mock.results[0]?.value as Socket).writableLength > 0) break;
      sockets[0].write(OK);
      await pending;
    }
    const other = textOf(transport, post(url, { body: bodyOf(fill + 1) }));
    while (sockets[1] === undefined) await setImmediate();
    let last = Buffer.alloc(0);
    const whole = new Promise<void>((resolve) => {
      sockets[0]?.on("data", (chunk) => {
        last = Buffer.concat([last, chunk]).subarray(-60_000);
        if (last.length === 60_000 && last.every((byte) => byte === fill)) resolve();
      });
    });
    sockets[0].resume();
    await whole;
    for (const socket of sockets) socket.write(OK);
    expect(await Promise.all([pending, other])).toEqual(["ok", "ok"]);
  });

  it("carries requests one after the other, with their length and without a second host", async () => {
    const requests: string[] = [];
    const { url, sockets } = await answering((socket, _count, request) => {
      requests.push(request);
      socket.write(OK);
    });
    const transport = direct();
    expect(await textOf(transport, post(url, { headers: { "x-a": "é" } }))).toBe("ok");
    expect(await textOf(transport, post(url, { headers: { Host: "model.example" } }))).toBe("ok");
    const { host } = new URL(url);
    expect(requests).toEqual([
      `POST / HTTP/1.1\r\nx-a: é\r\nhost: ${host}\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}`,
      "POST / HTTP/1.1\r\nHost: model.example\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}",
    ]);
    expect(sockets).toHaveLength(1);
  });

  it("sends headers as they are when it is asked, though they were sent before", async () => {
    const requests: string[] = [];
    const { url } = await answering((socket, _count, request) => {
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
    const { url } = await answering((socket, _count, request) => {
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
    const { url, sockets } = await answering((socket, count) => socket.write(count === 0 ? OK + OK.replace("ok", "no") : OK));
    const transport = direct();
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("is closed when the server speaks while nothing is asked", async () => {
    const { url, sockets } = await answering((socket) => socket.write(OK));
    const transport = direct();
    expect(await textOf(transport, post(url))).toBe("ok");
    sockets[0]?.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
    await once(sockets[0] as Socket, "close");
    expect(await textOf(transport, post(url))).toBe("ok");
  });

  it("is not used again when the server has closed it or will close it", async () => {
    const closing = OK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    const soon = OK.replace("\r\n\r\n", "\r\nkeep-alive: timeout=1\r\n\r\n");
    const { url, sockets } = await answering((socket, count) => socket.write([closing, soon, OK, OK][count] as string));
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

  it("is not used again when the headers of the request say so", async () => {
    const { url, sockets } = await answering((socket) => socket.write(OK));
    const transport = direct();
    for (let count = 1; count <= 2; count += 1) {
      expect(await textOf(transport, post(url, { headers: { Connection: "Close" } }))).toBe("ok");
      expect(sockets).toHaveLength(count);
    }
  });

  it("is not taken in the turn in which its reset is read", async () => {
    const { url, sockets } = await answering((socket) => socket.write(OK));
    const transport = direct();
    const carrying: Socket[] = [];
    const connect = Socket.prototype.connect;
    Socket.prototype.connect = function (this: Socket, ...parameters: Parameters<typeof connect>) {
      carrying.push(this);
      return connect.apply(this, parameters);
    } as typeof connect;
    cleanups.push(() => (Socket.prototype.connect = connect));
    expect(await textOf(transport, post(url))).toBe("ok");
    const reset = once(carrying[0] as Socket, "error").catch((cause: unknown) => [cause]);
    sockets[0]?.resetAndDestroy();
    expect(await reset).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
    expect(await textOf(transport, post(url))).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("is not used again when it is older than the server keeps it, though the process stood still and no timer could tell", async () => {
    const soon = OK.replace("\r\n\r\n", "\r\nkeep-alive: timeout=5\r\n\r\n");
    const { url, sockets } = await answering((socket) => socket.write(soon));
    const transport = direct();
    const now = vi.spyOn(performance, "now");
    cleanups.push(() => now.mockRestore());
    const start = performance.now();
    for (const [elapsedMs, connections] of [
      [0, 1],
      [3900, 1],
      [8000, 2],
    ] as const) {
      now.mockReturnValue(start + elapsedMs);
      expect(await textOf(transport, post(url))).toBe("ok");
      expect(sockets).toHaveLength(connections);
    }
  });

  it("is not used again when the answer came before the whole request was sent", async () => {
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
    const answer = await transport.send(post(url, { body: huge }));
    expect(answer.status).toBe(413);
    expect(await readWholeText(answer.body, [])).toBe("");
    expect((await transport.send(post(url, { body: huge }))).status).toBe(413);
    expect(sockets).toHaveLength(2);
  });

  it("serves again after an answer that ended while nobody read it", async () => {
    const { url, sockets } = await answering((socket, count) => {
      const length = 256 * 1024 + count * 1000;
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${"x".repeat(length)}`);
    });
    const connect = vi.spyOn(net, "connect");
    cleanups.push(() => connect.mockRestore());
    const transport = direct();
    for (let count = 0; count < 40; count += 1) {
      const answer = await transport.send(post(url));
      const socket = connect.mock.results[0]?.value as Socket;
      // All of it has come that may, and most of it waits.
      while (!socket.isPaused() && socket.bytesRead !== sockets[0]?.bytesWritten) await setImmediate();
      expect(await readWholeText(answer.body, [])).toHaveLength(256 * 1024 + count * 1000);
    }
    expect(sockets).toHaveLength(1);
  });

  it("passes over interim answers, and reads up to the end of the connection where no length is told", async () => {
    const { url } = await answering((socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end"));
    expect(await textOf(direct(), post(url))).toBe("until the end");
  });

  it("says what is wrong with an answer, and where it broke off", async () => {
    const { url } = await answering((socket, count) => {
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
      `server-error: no answer from ${host}: the answer is malformed: it is not HTTP/1.1: it begins with "SSH-2.0-OpenSSH\\r\\n"`,
      `server-error: no answer from ${host}: the server closed the connection`,
      `server-error: no answer from ${host}: the server closed the connection`,
      `server-error: the connection to ${host} broke off in the middle of the answer: the server closed the connection`,
      `server-error: the connection to ${host} broke off in the middle of the answer: read ECONNRESET`,
      `server-error: the connection to ${host} broke off in the middle of the answer: the answer is malformed: a chunk has no size`,
    ]);
  });

  it.each([
    [{ "x-bad": "line\r\nx-more: 1" }, "x-bad"],
    [{ "x-bad": "☃" }, "x-bad"],
    [{ "x bad": "1" }, "x bad"],
    [{ "": "1" }, "no name"],
    [{ "x-unset": undefined }, "x-unset has no value"],
    [{ "Content-Length": "5" }, "leave it out"],
    [{ "transfer-encoding": "chunked" }, "leave it out"],
  ])("sends no header that would be read otherwise than it was meant: %j", async (headers, message) => {
    const { url, sockets } = await answering((socket) => socket.write(OK));
    const failure = await failureOf(textOf(direct(), post(url, { headers: headers as unknown as Record<string, string> })));
    expect(failure).toMatch(/^invalid-request: /);
    expect(failure).toContain(message);
    expect(sockets).toHaveLength(0);
  });

  it("lives until its answer has ended when the transport is closed meanwhile, and no longer", async () => {
    const { url, sockets } = await answering((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no"));
    const transport = direct();
    const answer = await transport.send(post(url));
    transport.close();
    sockets[0]?.write("k");
    expect(await readWholeText(answer.body, [])).toBe("ok");
    await once(sockets[0] as Socket, "close");
  });

  it("does not keep the process alive while nothing is asked", async () => {
    const { url } = await answering((socket) => socket.write(OK));
    const source = `
      import { createTransport } from ${JSON.stringify(new URL("transport.ts", import.meta.url).href)};
      const answer = await createTransport().send({ method: "POST", url: ${JSON.stringify(url)}, headers: {}, body: [Buffer.from("{}")] });
      process.stdout.write(Buffer.from(await answer.body.read()));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "-e", source], {
      timeout: 30_000,
    });
    expect(stdout).toBe("ok");
  });

  it("lets its next answer be read when the one before was slow to decode", async () => {
    // The compressed answer has come whole, and the connection serves another, while the first is still being decoded and fails.
    const broken = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope";
    const { url } = await answering((socket, count) => socket.write(count === 0 ? broken : OK));
    const transport = direct();
    const first = await transport.send(post(url));
    const second = textOf(transport, post(url));
    expect(await failureOf(readWholeText(first.body, []))).toContain("broke off");
    expect(await second).toBe("ok");
  });
});

describe("an answer", () => {
  interface Told {
    readonly status: number;
    readonly body: string;
  }

  function nodeTells(url: string): Promise<Told | undefined> {
    return new Promise((resolve) => {
      const client = nodeRequest(url, { method: "POST", agent: false }, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
        response.on("end", () => resolve(response.complete ? { status: response.statusCode ?? 0, body } : undefined));
        response.on("error", () => resolve(undefined));
      });
      client.on("error", () => resolve(undefined));
      client.end("{}");
    });
  }

  async function weTell(url: string): Promise<Told | undefined> {
    try {
      const answer = await direct().send(post(url));
      const chunks: Uint8Array[] = [];
      for (let chunk = await answer.body.read(); chunk !== undefined; chunk = await answer.body.read()) chunks.push(chunk);
      return { status: answer.status, body: Buffer.concat(chunks).toString("latin1") };
    } catch (cause) {
      if (!ModelError.is(cause)) throw cause;
      return undefined;
    }
  }

  it("that is damaged anywhere is refused, or read as Node's own client reads it", async () => {
    let bytes = Buffer.alloc(0);
    const { url } = await answering((socket) => socket.end(bytes));
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
    let read = 0;
    await fc.assert(
      fc.asyncProperty(sound, fc.array(damage, { minLength: 0, maxLength: 3 }), async (text, damages) => {
        let damaged = text;
        for (const { at, cut, put } of damages) {
          const place = at % (damaged.length + 1);
          damaged = damaged.slice(0, place) + put + damaged.slice(place + cut);
        }
        bytes = Buffer.from(damaged, "latin1");
        const [ours, nodes] = [await weTell(url), await nodeTells(url)];
        // Node also refuses what follows the answer, and trailers that are none; they are passed over here.
        if (ours === undefined || nodes === undefined) return;
        read += 1;
        expect(ours).toEqual(nodes);
      }),
      { numRuns: 300 },
    );
    expect(read).toBeGreaterThan(20);
  });
});
