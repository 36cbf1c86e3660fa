import { ConnectionPool } from "./connection-pool.ts";
import { Exchange, type Route } from "./exchange.ts";
import { type HttpAddress, httpAddress } from "./http-address.ts";
import { requestHead } from "./request-head.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { cancelled } from "./transport-failure.ts";
import { isAborted } from "./watched-abort.ts";

/** How long an unused connection is kept: shorter than the load balancers of the vendors do. */
export const IDLE_CONNECTION_MS = 60_000;

/** Where requests for a URL go. */
interface Place extends Route {
  readonly url: string;
}

/** HTTP/1.1 over kept connections, straight to the server. */
export function createDirectTransport(tls: TlsOptions | undefined): Transport {
  const pools = new Map<string, ConnectionPool>();
  // Providers ask for one address over and over.
  let last: Place | undefined;

  function placeOf(request: TransportRequest): Place {
    const address = httpAddress(request);
    const pool = poolOf(address);
    const { host, path } = address;
    return {
      url: request.url,
      host,
      carry(asked, receiver) {
        const { body = [] } = asked;
        let bodyBytes = 0;
        for (const part of body) bodyBytes += part.length;
        const head = requestHead(asked, path, host, bodyBytes);
        const connection = pool.take();
        connection.ask(head, body, bodyBytes, receiver);
        return connection;
      },
    };
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
    send(request) {
      const { signal, origin } = request;
      try {
        if (signal !== undefined && isAborted(signal)) throw cancelled(origin, signal.reason, "unsent");
        if (last?.url !== request.url) last = placeOf(request);
      } catch (failure) {
        return Promise.reject(failure);
      }
      return new Exchange(last).start(request);
    },
    close() {
      for (const pool of pools.values()) pool.close();
      pools.clear();
      last = undefined;
    },
  };
}
