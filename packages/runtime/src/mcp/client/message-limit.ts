import type { Clock } from "../../platform/clock.ts";

/** Bounds the unrequested messages of a server: notices, questions, and answers to nothing. */
export interface MessageLimit {
  /** True if one more is one too many. */
  isExceeded(): boolean;
}

const BURST = 5000;
const PER_SECOND = 200;

/** The reason for an error. */
export const EXCEEDED_LIMIT: string = `it sent more than ${BURST} messages that nobody asked for, at more than ${PER_SECOND} a second`;

/** A bucket of tokens: it starts full, and is refilled by the second. */
export function createMessageLimit(clock: Clock): MessageLimit {
  let left = BURST;
  let filledAt = clock.now();
  return {
    isExceeded() {
      const now = clock.now();
      left = Math.min(BURST, left + (Math.max(0, now - filledAt) * PER_SECOND) / 1000);
      filledAt = now;
      left = Math.max(-1, left - 1);
      return left < 0;
    },
  };
}
