import type { AgentEvent } from "@keelson/protocol";

/** What an event takes beside its strings: its object, position and place in a queue. */
export const EVENT_BYTES = 200;
const SMALL_EVENT_BYTES = 300;

/** About what an event holds in memory. An estimate is enough: the bound on it is there to hold memory, not to bill it. */
export function sizeOfEvent(event: AgentEvent): number {
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
    case "tool-call-delta":
      return EVENT_BYTES + event.text.length;
    // What these hold has no member that could be large.
    case "turn-start":
    case "turn-end":
    case "usage":
    case "tool-calls-complete":
    case "tool-call-start":
    case "tool-call-end":
    case "tool-end":
    case "text-start":
    case "text-end":
      return EVENT_BYTES + SMALL_EVENT_BYTES;
    case "tool-result":
      return EVENT_BYTES + SMALL_EVENT_BYTES + (typeof event.output === "string" ? event.output.length : textLength(event.output));
    default:
      return EVENT_BYTES + textLength(event);
  }
}

/** Native, and the same for every shape of event. */
function textLength(value: unknown): number {
  return JSON.stringify(value).length;
}
