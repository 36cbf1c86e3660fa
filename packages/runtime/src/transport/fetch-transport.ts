import type { ModelError, RequestProgress } from "@keelson/protocol";
import { AnswerBuffer } from "./answer-buffer.ts";
import { cancelled, connectionFailed, neverConnected, timedOut } from "./transport-failure.ts";
import { DEFAULT_TIMEOUTS } from "./timeouts.ts";
import type { FetchLike, Transport, TransportAnswer, TransportRequest } from "./transport.ts";

/** Carries requests over a `fetch` that the caller passes: for other platforms, proxies of one's own, recordings. */
export function createFetchTransport(fetch: FetchLike): Transport {
  return { send: (request) => send(fetch, request), close() {} };
}

async function send(fetch: FetchLike, request: TransportRequest): Promise<TransportAnswer> {
  const { origin, signal } = request;
  if (signal?.aborted === true) throw cancelled(origin, signal.reason, "unsent");
  const timeouts = { ...DEFAULT_TIMEOUTS, ...request.timeouts };
  const host = hostOf(request.url);
  const controller = new AbortController();
  let failure: ModelError | undefined;
  let buffer: AnswerBuffer | undefined;

  const settle = (): void => {
    clearTimeout(idleTimer);
    clearTimeout(totalTimer);
    signal?.removeEventListener("abort", onAbort);
  };
  const fail = (cause: ModelError): void => {
    failure ??= cause;
    settle();
    buffer?.end(failure);
    controller.abort(failure);
  };
  // A `fetch` does not say when it is connected.
  const progress = (): RequestProgress => (buffer === undefined ? "sent" : "begun");
  const onAbort = (): void => fail(cancelled(origin, signal?.reason, progress()));
  const startTimer = (ms: number, what: string, name: string): NodeJS.Timeout | undefined =>
    ms > 0 ? setTimeout(() => fail(timedOut(origin, what, ms, name, progress())), ms) : undefined;
  let idleTimer = startTimer(timeouts.idleMs, `no byte from ${host}`, "idleMs");
  const totalTimer = startTimer(timeouts.totalMs, `no whole answer from ${host}`, "totalMs");
  signal?.addEventListener("abort", onAbort, { once: true });

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
    settle();
    throw failure ?? connectionFailed(origin, host, cause, neverConnected(cause) ? "unsent" : "sent");
  }
  if (failure !== undefined) {
    void response.body?.cancel(failure).catch(() => undefined);
    throw failure;
  }

  const reader = response.body?.getReader();
  let paused: PromiseWithResolvers<void> | undefined;
  const answer = new AnswerBuffer({
    pause() {
      clearTimeout(idleTimer);
      paused = Promise.withResolvers<void>();
    },
    resume() {
      idleTimer = startTimer(timeouts.idleMs, `no byte from ${host}`, "idleMs");
      paused?.resolve();
      paused = undefined;
    },
    destroy() {
      settle();
      paused?.resolve();
      controller.abort();
      // A body that cannot be cancelled any more is closed already.
      void reader?.cancel().catch(() => undefined);
    },
  });
  buffer = answer;
  void pump();
  return { status: response.status, header: (name) => response.headers.get(name) ?? undefined, body: answer };

  async function pump(): Promise<void> {
    try {
      while (reader !== undefined) {
        const { done, value } = await reader.read();
        if (done) break;
        idleTimer?.refresh();
        answer.push(value);
        if (paused !== undefined) await paused.promise;
      }
      settle();
      answer.end();
    } catch (cause) {
      settle();
      answer.end(failure ?? connectionFailed(origin, host, cause, "begun"));
    }
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

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
