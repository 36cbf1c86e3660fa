import { digestOf, shortHash } from "../../json/index.ts";
import { sessionOf, type Loop } from "../turn/loop.ts";
import type { ReadyCall, RunningCall } from "../turn/pending-call.ts";

/** The same on every attempt, also where the tool has another version by then. */
export function idempotencyKey(loop: Loop, call: ReadyCall | RunningCall): string {
  const first = loop.execution.lookup(`${call.key}/reserved/1`, "tool-reserved");
  if (first !== undefined) return first.data.idempotencyKey;
  const { tool } = call;
  return `k_${shortHash(`${sessionOf(loop).id}/${call.part.id}/${tool.name}/${tool.version}/${digestOf(call.input)}`, 32)}`;
}
