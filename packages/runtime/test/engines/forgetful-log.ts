import type { EventLog, NewRecord } from "@keelson/protocol";
import { watchedLog } from "../crash/watched-log.ts";

/** A log without the ledger of tool calls: reservations are forgotten as they are written. */
export function forgetfulLog(log: EventLog): EventLog {
  return watchedLog(log, { rewrite: (_log, records) => records.map(forgotten) });
}

export function forgotten(record: NewRecord): NewRecord {
  return record.type === "tool-reserved" ? { ...record, type: "forgotten", key: `${record.key}/forgotten/${process.pid}` } : record;
}
