import type { JsonValue, LogId, NewRecord } from "@keelson/protocol";
import { staleSeq, takenKey } from "./log-conflict.ts";
import { isSameValue } from "./same-value.ts";

/** What has to be known of a log before something is appended. A backend looks it up where nobody else can append meanwhile. */
export interface LogContent {
  /** Seq of the last record; 0 where there is none. */
  readonly head: number;
  /** Of the keys that are to be appended those that the log holds, with the record that stands under each. */
  readonly standing: ReadonlyMap<string, StandingRecord>;
}

export interface StandingRecord {
  readonly seq: number;
  readonly type: string;
  readonly data: JsonValue;
}

/** What somebody asks to be appended. */
export interface AppendRequest {
  readonly log: LogId;
  readonly expectedSeq: number | "any";
  readonly records: readonly NewRecord[];
  /** The data of the records as a JSON list. */
  readonly text: string;
}

export interface AppendPlan {
  /** Those that are not in the log yet: they go behind its head, in this order. */
  readonly missing: readonly NewRecord[];
  /** The seq of the last of all records, once the missing ones are written. */
  readonly lastSeq: number;
}

/**
 * Which of the records an append has to write. Those that are there already, from a call whose response was lost, are not written again.
 * @throws LogError `conflict` when another writer was faster, or a key is taken
 */
export function planAppend({ log, expectedSeq, records, text }: AppendRequest, { head, standing }: LogContent): AppendPlan {
  if (expectedSeq === "any") {
    const missing = standing.size === 0 ? records : withoutStanding(log, records, text, standing);
    return { missing, lastSeq: standing.get(records.at(-1)?.key ?? "")?.seq ?? head + missing.length };
  }
  if (expectedSeq !== head) {
    const isThere = records.length > 0 && records.every(({ key }, index) => standing.get(key)?.seq === expectedSeq + index + 1);
    if (!isThere) throw staleSeq(log, expectedSeq, head);
    return { missing: [], lastSeq: expectedSeq + records.length };
  }
  for (const { key } of records) {
    const taken = standing.get(key);
    if (taken !== undefined) throw takenKey(log, expectedSeq, taken.seq, key);
  }
  return { missing: records, lastSeq: head + records.length };
}

function withoutStanding(log: LogId, records: readonly NewRecord[], text: string, standing: LogContent["standing"]): readonly NewRecord[] {
  const data = JSON.parse(text) as readonly JsonValue[];
  return records.filter(({ key, type }, index) => {
    const record = standing.get(key);
    if (record === undefined) return true;
    if (record.type !== type || !isSameValue(record.data, data[index])) throw takenKey(log, "any", record.seq, key);
    return false;
  });
}
