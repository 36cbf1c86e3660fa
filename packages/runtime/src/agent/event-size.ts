import type { AgentEvent } from "@keelson/protocol";

/** What an event takes beside its strings: its object, position and place in a queue. */
const EVENT_BYTES = 200;
const MEMBER_BYTES = 16;

/** About what an event holds in memory. An estimate is enough: the bound on it is there to hold memory, not to bill it. */
export function sizeOfEvent(event: AgentEvent): number {
  return event.type === "text-delta" || event.type === "thinking-delta" ? EVENT_BYTES + event.text.length : EVENT_BYTES + sizeOf(event);
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 0;
  for (const key in value) bytes += MEMBER_BYTES + sizeOf((value as { readonly [key: string]: unknown })[key]);
  return bytes;
}
