import type { AddressInfo } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import { equalInConstantTime } from "../crypto/hmac.ts";
import { authorisationFailed } from "./oauth-client.ts";

export interface LoopbackRedirect extends AsyncDisposable {
  readonly uri: string;
  /** The code that the browser brings; rejects when the server refused, time is over, or nobody waits any more. */
  code(terms: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<string>;
}

const PAGE = "<!doctype html><meta charset=utf-8><title>Keelson</title><p>You can close this window and go back to where you came from.";

/** Listens on 127.0.0.1 for one redirect. Others that come, without the state that only our address knows, change nothing. */
export async function openLoopbackRedirect({
  port,
  state,
  issuer,
  clientId,
}: {
  readonly port: number;
  readonly state: string;
  readonly issuer: string | undefined;
  readonly clientId: string;
}): Promise<LoopbackRedirect> {
  const { createServer } = await import("node:http");
  const { promise: arrived, resolve, reject } = Promise.withResolvers<string>();
  // It may be refused before anybody waits.
  arrived.catch(() => {});
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    const query = url?.searchParams;
    if (
      request.method !== "GET" ||
      url?.pathname !== "/callback" ||
      query === undefined ||
      !equalInConstantTime(query.get("state") ?? "", state)
    ) {
      response.writeHead(400, { "content-type": "text/plain" }).end("This is no response to what was asked.\n");
      return;
    }
    response
      .writeHead(200, { "content-type": "text/html", "referrer-policy": "no-referrer", "cache-control": "no-store", "connection": "close" })
      .end(PAGE);
    const [code, error] = [query.get("code"), query.get("error")];
    if (issuer !== undefined && query.get("iss") !== issuer)
      reject(authorisationFailed(clientId, "another authorisation server responded."));
    else if (code !== null && error === null) resolve(code);
    else
      reject(
        authorisationFailed(
          clientId,
          `the authorisation server responded with ${error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "no code"}.`,
        ),
      );
  });
  await new Promise<void>((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async code({ clock, timeoutMs, signal }) {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      const cancel = clock.after(timeoutMs, () =>
        reject(authorisationFailed(clientId, `nobody agreed within ${timeoutMs} ms. Ask again.`)),
      );
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
