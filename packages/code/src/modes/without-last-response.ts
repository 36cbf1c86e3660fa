import type { AgentEvent } from "@keelson/protocol";
import { textOfMessage } from "../render/describe-event.ts";

/** The events of a run for whoever follows its work, and what it said last. */
export interface Work extends AsyncIterable<AgentEvent> {
  /** `undefined` while there is none: the last that was said came with calls, and is part of the work. */
  lastResponse(): string | undefined;
}

/**
 * Takes the last response out of a run, for another place. That it is the last is known at the end only, so that each is held back
 * until something follows it.
 */
export function withoutLastResponse(events: AsyncIterable<AgentEvent>): Work {
  let held: Extract<AgentEvent, { readonly type: "message" }> | undefined;
  return {
    lastResponse: () => held && textOfMessage(held.message),
    async *[Symbol.asyncIterator]() {
      for await (const event of events) {
        const isOwn = event.path === undefined || event.path.length === 0;
        if (isOwn && event.type === "text-delta") continue;
        if (isOwn && held !== undefined && (event.type === "tool-calls-start" || event.type === "turn-start" || event.type === "message")) {
          yield held;
          held = undefined;
        }
        if (isOwn && event.type === "message" && event.message.role === "assistant") held = event;
        else yield event;
      }
    },
  };
}
