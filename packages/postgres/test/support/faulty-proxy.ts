import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands between clients and a server, and passes on what each says until it is told to do something to it. */
export interface FaultyProxy extends AsyncDisposable {
  readonly port: number;
  /** At the n-th piece of data from now on, in either direction, its connection is cut and that piece lost. */
  failAt(n: number): void;
  /** The next connection on which a client says these words has them passed on, and nothing from then on. */
  stallAfter(words: string): void;
  /** Whether that has happened since. */
  hasFailed(): boolean;
  /** Cuts all connections now. */
  cutAll(): void;
}

export async function openFaultyProxy(serverPort: number): Promise<FaultyProxy> {
  const open = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let stallWords: string | undefined;
  const proxy = createServer((client) => {
    const server = connect(serverPort, "127.0.0.1");
    let isStalled = false;
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.on("data", (data) => {
        if (isStalled) return;
        if (--left === 0) return cut();
        to.write(data);
        if (from !== client || stallWords === undefined || !data.includes(stallWords)) return;
        isStalled = true;
        stallWords = undefined;
      });
      from.on("error", cut);
      from.on("close", () => {
        open.delete(from);
        cut();
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cutAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    failAt(n) {
      left = n;
    },
    stallAfter(words) {
      stallWords = words;
    },
    hasFailed: () => left <= 0,
    cutAll,
    async [Symbol.asyncDispose]() {
      cutAll();
      proxy.close();
    },
  };
}
