import { LogError, type Lease } from "@keelson/protocol";
import type { Clock } from "../platform/clock.ts";

/**
 * Renews a lease, long before it ends, until told to stop.
 * @param lost called once when somebody else has it
 * @returns what ends that
 */
export function keepLease(lease: Lease, ttlMs: number, clock: Clock, lost: (error: unknown) => void): () => void {
  let ended = false;
  let cancel = (): void => {};
  const schedule = (): void => {
    cancel = clock.after(ttlMs / 3, () => void renew(), { keepAlive: false });
  };
  const renew = async (): Promise<void> => {
    try {
      await lease.renew();
    } catch (error) {
      // A lease that could not be renewed for the moment still writes until somebody takes it over: that is fenced.
      if (!ended && !(LogError.is(error) && error.retryable)) return lost(error);
    }
    if (!ended) schedule();
  };
  schedule();
  return () => {
    ended = true;
    cancel();
  };
}
