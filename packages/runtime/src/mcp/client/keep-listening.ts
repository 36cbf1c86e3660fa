import type { McpSubscription } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";

export interface KeepListeningOptions {
  readonly clock: Clock;
  /** Begins to listen. */
  readonly open: () => Promise<McpSubscription>;
  /** Whether it is of use to listen again. */
  readonly isWanted: () => boolean;
  /** Called when it listens again: what was told in between was heard by nobody. */
  readonly onGap: () => void;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/**
 * Listens again where that ended without being asked for: a server restarted, or something on the way closed what was silent for long.
 * @param subscription the first one, open
 * @returns ends it
 */
export function keepListening(subscription: McpSubscription, { clock, open, isWanted, onGap }: KeepListeningOptions): () => Promise<void> {
  let current = subscription;
  let isOver = false;
  let delayMs = FIRST_DELAY_MS;
  let cancelRetry = (): void => {};
  const follow = async (): Promise<void> => {
    if ((await current.closed) !== "local") later();
  };
  const later = (): void => {
    if (isOver || !isWanted()) return;
    cancelRetry = clock.after(delayMs, () => void again(), { keepAlive: false });
    delayMs = Math.min(MAX_DELAY_MS, 2 * delayMs);
  };
  const again = async (): Promise<void> => {
    if (isOver || !isWanted()) return;
    try {
      current = await open();
    } catch {
      later();
      return;
    }
    if (isOver) return void (await current.close());
    delayMs = FIRST_DELAY_MS;
    onGap();
    await follow();
  };
  void follow();
  return async () => {
    isOver = true;
    cancelRetry();
    await current.close();
  };
}
