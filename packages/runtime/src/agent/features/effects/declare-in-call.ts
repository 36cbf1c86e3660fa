import { DirectiveError, type Effect } from "@keelson/protocol";
import type { RunningCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { admitEffect } from "./declare-effects.ts";

/** Takes an effect that a tool declares while it runs. It is recorded with the result. @returns its id */
export function declareInCall(loop: Loop, call: RunningCall, effect: Effect): string {
  const { declared } = call;
  const admission = admitEffect(loop, `${call.key}/effect/${declared.length}`, effect, declared.length);
  declared.push(admission);
  if (admission.type === "rejected") throw DirectiveError.fromJSON(admission.error);
  return admission.id;
}

/** What an operator that was called as a tool declared and did not see executed is the caller's to decide. */
export function passOnEffects(loop: Loop, call: RunningCall, effects: readonly Effect[]): void {
  const { declared } = call;
  for (const effect of effects)
    if (effect.meta?.outcome === undefined)
      declared.push(admitEffect(loop, `${call.key}/effect/${declared.length}`, effect, declared.length));
}
