import type { ModelFailure } from "@keelson/protocol";
import type { ByteStream } from "./byte-stream.ts";
import type { Timeouts } from "./timeouts.ts";

/** Who asks, for the failure that a caller sees. */
export interface RequestOrigin {
  readonly provider?: string;
  readonly model?: string;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** Sent one after the other, without a copy. */
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly origin?: RequestOrigin;
  /**
   * Called when a request was lost with a reused connection, which the server had closed: no byte of a response came. If it returns true, the
   * request is sent once more, over a new connection; the lost one may be billed all the same. Default: a GET is sent again, a POST never.
   */
  readonly resendLost?: ((failure: ModelFailure) => boolean) | undefined;
}

export interface TransportResponse {
  readonly status: number;
  /** `name` in lower case. Values of a repeated header are joined by ", ". */
  header(name: string): string | undefined;
  readonly body: ByteStream;
}

/**
 * Carries one HTTP request. `send` resolves when the headers are there and rejects with `ModelError`: `cancelled` when the
 * signal fired, else `server-error`. Redirects are not followed, and nothing is sent again but a request that was lost with a reused
 * connection, as `resendLost` says. The caller must read the body to its end, or `close` or `release` it.
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Closes the idle connections; requests under way are not touched. */
  close(): void;
}

/** The part of the platform's `fetch` that is called. */
export type FetchLike = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: Uint8Array<ArrayBuffer>; signal: AbortSignal; redirect: "manual" },
) => Promise<Response>;
