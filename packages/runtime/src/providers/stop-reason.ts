import type { StopReason } from "@keelson/protocol";

/**
 * The reasons with which one wire ends a good response, in lower case. The list is closed: a reason that is not in it is
 * `other`, and a run asks for such a response again.
 */
export interface StopReasons {
  readonly [reason: string]: Exclude<StopReason, "other">;
}

/**
 * Reads the reason that a vendor gave. A response without a reason ended ordinarily, because some servers never give one. Calls
 * turn an ordinary end into one for tools, because not every vendor says so; they excuse no reason that is not listed.
 */
export function readStopReason(reasons: StopReasons, raw: string | null, hasCalls: boolean): StopReason {
  const reason = raw === null || raw === "" ? "end-turn" : (listed(reasons, raw.toLowerCase()) ?? "other");
  return reason === "end-turn" && hasCalls ? "tool-use" : reason;
}

/** Google's chat endpoint puts a detail behind its word: `content_filter: SAFETY`. */
function listed(reasons: StopReasons, raw: string): StopReason | undefined {
  for (const reason of [raw, raw.split(":")[0] as string]) if (Object.hasOwn(reasons, reason)) return reasons[reason];
  return undefined;
}
