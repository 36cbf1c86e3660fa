import type { JsonValue, LogId, NewRecord } from "@keelson/protocol";
import { staleSeq, takenKey } from "./log-conflict.ts";
import { isSameValue } from "./same-value.ts";

/** What has to be known of a log before something is appended. */
export interface LogContent {
  readonly head: number;
  seqOf(key: string): number | undefined;
  /** The record that stands there. */
  recordAt(seq: number): { readonly type: string; readonly data: JsonValue | undefined };
}

export interface AppendPlan {
  /** Those that are not in the log yet. */
  readonly missing: readonly NewRecord[];
  /** The seq of the last of all records, once the missing ones are written. */
  readonly lastSeq: number;
}

/**
 * Which of the records an append has to write. Those that are there already, from a call whose answer was lost, are not written again.
 * @param text the data of the records as a JSON list
 * @throws LogError `conflict` when another writer was faster, or a key is taken
 */
export function planAppend(
  log: LogId,
  expectedSeq: number | "any",
  records: readonly NewRecord[],
  text: string,
  content: LogContent | undefined,
): AppendPlan {
  const head = content?.head ?? 0;
  if (expectedSeq === "any") return planAnywhere(log, records, text, content);
  if (expectedSeq !== head) {
    const isThere = records.length > 0 && records.every(({ key }, index) => content?.seqOf(key) === expectedSeq + index + 1);
    if (!isThere) throw staleSeq(log, expectedSeq, head);
    return { missing: [], lastSeq: expectedSeq + records.length };
  }
  if (content !== undefined) {
    for (const { key } of records) {
      const seq = content.seqOf(key);
      if (seq !== undefined) throw takenKey(log, expectedSeq, seq, key);
    }
  }
  return { missing: records, lastSeq: head + records.length };
}

function planAnywhere(log: LogId, records: readonly NewRecord[], text: string, content: LogContent | undefined): AppendPlan {
  const head = content?.head ?? 0;
  const last = records.at(-1);
  if (last === undefined || content === undefined) return { missing: records, lastSeq: head + records.length };
  let given: readonly JsonValue[] | undefined;
  const missing = records.filter(({ key, type }, index) => {
    const seq = content.seqOf(key);
    if (seq === undefined) return true;
    const standing = content.recordAt(seq);
    given ??= JSON.parse(text) as JsonValue[];
    if (standing.type !== type || !isSameValue(standing.data, given[index])) throw takenKey(log, "any", seq, key);
    return false;
  });
  return { missing, lastSeq: content.seqOf(last.key) ?? head + missing.length };
}
