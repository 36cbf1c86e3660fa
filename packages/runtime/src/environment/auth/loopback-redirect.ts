import type { AddressInfo } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import { equalInConstantTime } from "../crypto/hmac.ts";

export interface LoopbackRedirect extends AsyncDisposable {
  readonly uri: string;
  /** The address that the browser came to; rejects with what `late` makes when time is over, and when nobody waits any more. */
  visit(terms: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal; late(): Error }): Promise<URL>;
}

const PAGE = "<!doctype html><meta charset=utf-8><title>Keelson</title><p>You can close this window and go back to where you came from.";

/** Listens on 127.0.0.1 for one redirect. Others that come, without the state that only our address knows, change nothing. */
export async function openLoopbackRedirect({ port, state }: { readonly port: number; readonly state: string }): Promise<LoopbackRedirect> {
  const { createServer } = await import("node:http");
  const { promise: arrived, resolve, reject } = Promise.withResolvers<URL>();
  // It may be given up before anybody waits.
  arrived.catch(() => {});
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    if (request.method !== "GET" || url?.pathname !== "/callback" || !equalInConstantTime(url.searchParams.get("state") ?? "", state)) {
      response.writeHead(400, { "content-type": "text/plain" }).end("This is no response to what was asked.\n");
      return;
    }
    response
      .writeHead(200, { "content-type": "text/html", "referrer-policy": "no-referrer", "cache-control": "no-store", "connection": "close" })
      .end(PAGE);
    resolve(url);
  });
  await new Promise<void>((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async visit({ clock, timeoutMs, signal, late }) {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      const cancel = clock.after(timeoutMs, () => reject(late()));
      try {
        return await arrived;
      } finally {
        cancel();
        signal.removeEventListener("abort", onAbort);
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      server.closeIdleConnections();
      await closed;
    },
  };
}
