const BASE_MS = 500;

/**
 * How long to wait before retry number `attempt` (from 1): twice as long each time, with jitter downwards by up to a half;
 * never shorter than the vendor asked for. Who asks for more than `maxMs` is not waited for, and not asked here.
 * @param random 0 to 1
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | undefined, random: number, maxMs: number): number {
  const backoff = Math.min(maxMs, BASE_MS * 2 ** (attempt - 1)) * (1 - random / 2);
  return Math.round(Math.max(backoff, retryAfterMs ?? 0));
}
