import { isDurableEventType } from "@keelson/protocol";
import type { DurableEvent } from "@keelson/protocol";
import type { RecordType } from "./record-data.ts";

/** Those that are no events. */
const TYPES: { readonly [T in Exclude<RecordType, DurableEvent["type"]>]: true } = {
  "session-create": true,
  "session-rename": true,
  "session-tag": true,
  "session-rewind": true,
  "strategy-state": true,
  "run-terms": true,
  "run-input": true,
  "limit-raised": true,
  "run-context": true,
  "instructions": true,
  "events-shown": true,
  "run-ending": true,
  "decision": true,
  "step": true,
  "step-attempt": true,
  "slept": true,
  "selected": true,
  "committed": true,
  "inference": true,
  "answer": true,
  "inference-failed": true,
  "compaction-begin": true,
  "compaction-left": true,
  "compaction-summary": true,
  "output-repair": true,
  "tool-reserved": true,
  "tools-offered": true,
  "tools-loaded": true,
  "tool-version": true,
  "tool-not-done": true,
  "tool-kept": true,
  "tool-suspended": true,
  "question-closed": true,
  "tool-inference": true,
  "hook-arguments": true,
  "hooks-told": true,
  "turn-told": true,
  "signal": true,
  "signal-wait": true,
  "signal-given": true,
  "child-stop": true,
  "child-settled": true,
  "handed-off": true,
  "effect": true,
  "directive-rejected": true,
  "effect-attempt": true,
  "effect-done": true,
  "budget-ledger": true,
};

/** Whether this version writes and reads records of this type. Others stay in the log and are passed over. */
export function isKnownRecordType(type: string): type is RecordType {
  return isDurableEventType(type) || Object.hasOwn(TYPES, type);
}
