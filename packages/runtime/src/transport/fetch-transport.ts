import type { Readable } from "node:stream";
import { ReadableBody } from "./readable-body.ts";
import { RequestWatch } from "./request-watch.ts";
import type { FetchLike, Transport, TransportResponse, TransportRequest } from "./transport.ts";
import { cancelled, connectionFailed, neverConnected } from "./transport-failure.ts";

/** Carries requests over a `fetch` that the caller passes: for other platforms, proxies of one's own, recordings. */
export function createFetchTransport(fetch: FetchLike): Transport {
  return { send: (request) => send(fetch, request), close() {} };
}

async function send(fetch: FetchLike, request: TransportRequest): Promise<TransportResponse> {
  const { origin, signal } = request;
  if (signal?.aborted === true) throw cancelled(origin, signal.reason, "unsent");
  const host = URL.parse(request.url)?.host ?? request.url;
  const controller = new AbortController();
  const watch = new RequestWatch(request, host);
  watch.onFailure((failure) => controller.abort(failure));
  // A `fetch` does not say when it is connected.
  watch.connected();
  let response: Response;
  try {
    response = await fetch(request.url, {
      method: request.method,
      headers: { ...request.headers },
      ...(request.body !== undefined && { body: joined(request.body) }),
      signal: controller.signal,
      redirect: "manual",
    });
  } catch (cause) {
    watch.end();
    throw watch.failure ?? connectionFailed(origin, host, cause, neverConnected(cause) ? "unsent" : "sent");
  }
  if (watch.failure !== undefined) {
    void response.body?.cancel(watch.failure).catch(() => undefined);
    throw watch.failure;
  }
  watch.begun();
  // Whether the response has come whole is not told.
  const body = new ReadableBody(readableOf(response), watch, { hasAll: () => false, close: () => controller.abort() });
  return { status: response.status, header: (name) => response.headers.get(name) ?? undefined, body };
}

function readableOf({ body }: Response): Readable {
  const { Readable: Stream } = process.getBuiltinModule("node:stream");
  return Stream.from(chunksOf(body?.getReader()), { objectMode: false });
}

/** Asks for the next chunk when somebody wants it. Whose `fetch` it is, his stream may be no `ReadableStream` of the platform. */
async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): AsyncGenerator<Uint8Array, void> {
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
