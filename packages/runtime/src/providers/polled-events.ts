import type { InferEvent } from "@keelson/protocol";

/** Events of which some are there already: whoever reads them all may take those without a promise for each. */
export interface PolledEvents extends AsyncIterable<InferEvent> {
  /** The event that `next` would give at once; nothing when there is none now. Not while a `next` is waiting. */
  poll(): InferEvent | undefined;
  /** The texts of the deltas that `poll` would give next, where what is next are deltas of text that came together. */
  pollTexts(): readonly string[] | undefined;
}

export function canPoll(events: AsyncIterable<InferEvent>): events is PolledEvents {
  return "poll" in events && typeof events.poll === "function";
}

/** Deltas of text that came together: a network chunk may hold hundreds. */
export interface TextRun {
  readonly type: "text-run";
  /** Not empty. */
  readonly texts: readonly string[];
}

/** What decoders give: one event, or many of the most frequent kind as one. */
export type DecodedEvent = InferEvent | TextRun;
