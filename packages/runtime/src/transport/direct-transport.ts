import { ConnectionPool } from "./connection-pool.ts";
import { Exchange } from "./exchange.ts";
import { type HttpAddress, httpAddress } from "./http-address.ts";
import { requestHead } from "./request-head.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { Transport, TransportAnswer, TransportRequest } from "./transport.ts";
import { cancelled } from "./transport-failure.ts";
import { isAborted } from "./watched-abort.ts";

/** How long an unused connection is kept: shorter than the load balancers of the vendors do. */
export const IDLE_CONNECTION_MS = 60_000;

/** Where requests for a URL go. */
interface Place {
  readonly url: string;
  readonly address: HttpAddress;
  readonly pool: ConnectionPool;
}

/** HTTP/1.1 over kept connections, straight to the server. */
export function createDirectTransport(tls: TlsOptions | undefined): Transport {
  const pools = new Map<string, ConnectionPool>();
  // Providers ask for one address over and over.
  let last: Place | undefined;

  function placeOf(request: TransportRequest): Place {
    if (last?.url === request.url) return last;
    const address = httpAddress(request);
    return (last = { url: request.url, address, pool: poolOf(address) });
  }

  function poolOf(address: HttpAddress): ConnectionPool {
    const origin = address.secure ? `https://${address.host}` : `http://${address.host}`;
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new ConnectionPool(address, tls, IDLE_CONNECTION_MS);
      pools.set(origin, pool);
    }
    return pool;
  }

  return {
    // What the constructor of the promise throws, it rejects with.
    send: (request) =>
      new Promise<TransportAnswer>((resolve, reject) => {
        const { body = [], signal, origin } = request;
        if (signal !== undefined && isAborted(signal)) throw cancelled(origin, signal.reason);
        const { address, pool } = placeOf(request);
        new Exchange(request, address.host, resolve, reject).start((receiver) => {
          let bodyBytes = 0;
          for (const part of body) bodyBytes += part.length;
          const head = requestHead(request, address.path, address.host, bodyBytes);
          const connection = pool.take();
          connection.ask(head, body, bodyBytes, receiver);
          return connection;
        });
      }),
    close() {
      for (const pool of pools.values()) pool.close();
      pools.clear();
      last = undefined;
    },
  };
}
