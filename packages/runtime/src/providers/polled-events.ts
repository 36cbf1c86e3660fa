import type { InferEvent } from "@keelson/protocol";

/** Events of which some are there already: whoever reads them all may take those without a promise for each. */
export interface PolledEvents extends AsyncIterable<InferEvent> {
  /** The event that `next` would give at once; nothing when there is none now. Not while a `next` is waiting. */
  poll(): InferEvent | undefined;
}

export function canPoll(events: AsyncIterable<InferEvent>): events is PolledEvents {
  return "poll" in events && typeof events.poll === "function";
}
