/** All in milliseconds; 0 turns one off. */
export interface Timeouts {
  /** Until the connection stands, name lookup, proxy and TLS included. With a `fetch` of the caller it is not seen apart. Default 15,000. */
  readonly connectMs?: number;
  /** Without a byte from the server, the wait for the first one included. Comments of an event stream count as silence. The time a slow reader takes does not count. Default 300,000. */
  readonly idleMs?: number;
  /** From the request to the last byte. Default 3,600,000. */
  readonly totalMs?: number;
}

export const DEFAULT_TIMEOUTS: Required<Timeouts> = { connectMs: 15_000, idleMs: 300_000, totalMs: 3_600_000 };
