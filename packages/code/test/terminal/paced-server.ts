import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createSlowLink } from "./slow-link.ts";

/** A server in front of another one, which sends its responses as slowly as a model writes. */
export interface PacedServer extends AsyncDisposable {
  readonly url: string;
}

export interface PacedServerOptions {
  /** The server that responds. */
  readonly target: string;
  readonly bytesPerSecond: number;
}

export async function openPacedServer({ target, bytesPerSecond }: PacedServerOptions): Promise<PacedServer> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let hasEnded = false;
    let isCarrying = false;
    const source = {
      write: () => {},
      pause() {
        isCarrying = true;
        upstream.pause();
      },
      resume() {
        isCarrying = false;
        upstream.resume();
        if (hasEnded) client.end();
      },
    };
    const link = createSlowLink(source, { bytesPerSecond, latencyMs: 0, show: (bytes) => void client.write(bytes) });
    client.pipe(upstream);
    upstream.on("data", (bytes: Uint8Array) => link.carry(bytes));
    upstream.on("end", () => {
      hasEnded = true;
      if (!isCarrying) client.end();
    });
    client.on("close", () => {
      link.close();
      upstream.destroy();
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => client.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
