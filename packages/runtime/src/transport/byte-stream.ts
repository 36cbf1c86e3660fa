import { ModelError } from "@keelson/protocol";

/**
 * The bytes of a response, pulled by one reader. When the reader does not keep up, the connection is paused.
 */
export interface ByteStream {
  /**
   * The next bytes, or `undefined` at the end. Rejects with `ModelError`. One call at a time.
   * @param isAlive - false if the bytes so far were only there to keep the connection open: then they do not extend the idle timeout
   */
  read(isAlive?: boolean): Promise<Uint8Array | undefined>;
  /** Bytes that are there already; `undefined` when there are none now. */
  poll(): Uint8Array | undefined;
  /** Gives the rest up and closes the connection. A pending `read` resolves with `undefined`. */
  close(): void;
  /**
   * The reader has all it needs. A short rest is read away, so that the connection can serve again; else it is closed. Resolves when the
   * connection can serve again, but does not wait for a rest that is still to come.
   */
  release(): Promise<void>;
}

/** 64 MiB: the longest response that is read as a whole. */
export const MAX_WHOLE_BODY_BYTES: number = 64 * 1024 * 1024;

/**
 * Reads a body to its end as text.
 * @throws ModelError of kind `max-output-tokens` when it is longer than `maxBytes`; the connection is closed then.
 */
export async function readWholeText(
  body: ByteStream,
  first: readonly Uint8Array[],
  maxBytes: number = MAX_WHOLE_BODY_BYTES,
): Promise<string> {
  const chunks = [...first];
  let bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  for (;;) {
    if (bytes > maxBytes) {
      body.close();
      throw new ModelError({
        kind: "max-output-tokens",
        message: `the response is longer than ${maxBytes} bytes and did not come as a stream`,
      });
    }
    const chunk = body.poll() ?? (await body.read());
    if (chunk === undefined) break;
    bytes += chunk.length;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text;
}

/** Reads at most `maxBytes` of a body as text and gives the rest up: for error bodies, of which more is no use. */
export async function readTextUpTo(body: ByteStream, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < maxBytes) {
    const chunk = body.poll() ?? (await body.read());
    if (chunk === undefined) break;
    bytes += chunk.length;
    chunks.push(chunk);
  }
  await body.release();
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
