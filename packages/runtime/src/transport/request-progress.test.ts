import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { ModelError, type RequestProgress } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createTransport, type Transport } from "./index.ts";

const transports: { readonly [name: string]: () => Transport } = {
  "a kept connection": () => createTransport({ proxyEnvironment: false }),
  "a fetch": () => createTransport({ fetch: (url, init) => fetch(url, init) }),
};

/** A server that does this with the first bytes of each connection. */
async function serving(respond: (socket: Socket) => void): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => respond(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

describe.each(Object.keys(transports))("over %s, a failed request says how far it came", (name) => {
  const progressOf = async (
    url: string,
    options: { readonly signal?: AbortSignal; readonly idleMs?: number } = {},
  ): Promise<RequestProgress | undefined> => {
    const transport = (transports[name] as () => Transport)();
    const { signal, idleMs = 5000 } = options;
    try {
      const response = await transport.send({ method: "POST", url, headers: {}, body: [Buffer.from("{}")], signal, timeouts: { idleMs } });
      while ((await response.body.read()) !== undefined);
      throw new Error("it did not fail");
    } catch (error) {
      if (!ModelError.is(error)) throw error;
      return error.failure.progress;
    } finally {
      transport.close();
    }
  };

  it("nothing of it was sent where nobody listens, there is no such host, or it was cancelled before", async () => {
    const { url } = await (async () => {
      await using closed = await serving(() => undefined);
      return { url: closed.url };
    })();
    expect(await progressOf(url)).toBe("unsent");
    expect(await progressOf("http://no-such-host.invalid/")).toBe("unsent");
    expect(await progressOf(url, { signal: AbortSignal.abort() })).toBe("unsent");
  });

  it("it was sent where the connection ends, or nothing comes, before a status", async () => {
    await using resetting = await serving((socket) => socket.resetAndDestroy());
    expect(await progressOf(resetting.url)).toBe("sent");
    await using closing = await serving((socket) => socket.end());
    expect(await progressOf(closing.url)).toBe("sent");
    await using silent = await serving(() => undefined);
    expect(await progressOf(silent.url, { idleMs: 60 })).toBe("sent");
    const leaving = new AbortController();
    await using left = await serving(() => leaving.abort());
    expect(await progressOf(left.url, { signal: leaving.signal })).toBe("sent");
  });

  it("a response began where it breaks off behind its status", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
    await using cutting = await serving((socket) => socket.end(head));
    expect(await progressOf(cutting.url)).toBe("begun");
    await using silent = await serving((socket) => socket.write(head));
    expect(await progressOf(silent.url, { idleMs: 60 })).toBe("begun");
  });
});
