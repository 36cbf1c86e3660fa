import type { JsonValue } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../json/index.ts";
import type { GuardedArguments } from "./pending-call.ts";

interface Guarded {
  input?: JsonValue;
  guarded?: GuardedArguments;
}

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
function guardedOf(call: Guarded): GuardedArguments {
  const { input, guarded } = call;
  return guarded !== undefined && guarded.input === input ? guarded : (call.guarded = { input, text: canonicalJson(input) });
}
