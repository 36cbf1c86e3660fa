import { canonicalJson, shortHash } from "../../json/index.ts";
import type { PendingCall } from "./pending-call.ts";

type Guarded = Pick<PendingCall, "input" | "guarded">;

/** The canonical JSON of a call's arguments. */
export function argumentsText(call: Guarded): string {
  return guardedOf(call).text;
}

/** What the loop guard knows a call by. */
export function guardKey(tool: string, call: Guarded): string {
  const guarded = guardedOf(call);
  const { text } = guarded;
  return (guarded.key ??= `${tool}:${text.length <= 64 ? text : shortHash(text)}`);
}

/** Asked for at several gates and again for the record; edited arguments are other arguments. */
function guardedOf(call: Guarded): NonNullable<PendingCall["guarded"]> {
  const { input, guarded } = call;
  return guarded !== undefined && guarded.input === input ? guarded : (call.guarded = { input, text: canonicalJson(input) });
}
