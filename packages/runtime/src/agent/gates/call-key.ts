import { canonicalJson, shortHash } from "../../json/index.ts";
import type { PendingCall } from "./pending-call.ts";

/** What the loop guard knows a call by. */
export function guardKey(tool: string, call: Pick<PendingCall, "input" | "guarded">): string {
  // Asked at the gate and again for the record; edited arguments are other arguments.
  if (call.guarded === undefined || call.guarded.input !== call.input) {
    const text = canonicalJson(call.input);
    call.guarded = { input: call.input, key: `${tool}:${text.length <= 64 ? text : shortHash(text)}` };
  }
  return call.guarded.key;
}
