import { type EventLog, LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { chainEventLog } from "./chain-event-log.ts";
import { checkLog, type CheckLogOptions, type LogCheck } from "./check-log.ts";
import { withoutLink } from "./record-chain.ts";

export interface RepairLogOptions extends CheckLogOptions {
  /** The log that is made of what is sound; it must not be there yet. */
  readonly to: LogId;
}

export interface RepairedLog {
  /** What was wrong. */
  readonly check: LogCheck;
  /** How many records were taken over. */
  readonly kept: number;
  /** How many were not, of those that can be counted: all from the first on that is missing, changed, moved or unreadable. */
  readonly dropped: number;
}

const RECORDS_PER_APPEND = 200;

/**
 * Makes another log of the records before the first that is wrong, each with a hash, and says what it left behind. The damaged log stays as it is.
 * @param log the one that `chainEventLog` is around
 */
export async function repairLog(log: EventLog, id: LogId, options: RepairLogOptions): Promise<RepairedLog> {
  checkOptionNames("repairLog", options, { to: true, head: true, maxProblems: true });
  const { to, ...checking } = options;
  if ((await log.head(to)) > 0)
    throw new LogError({ kind: "invalid-input", message: `There is a log "${to}" already. Give the repaired log an id of its own.` });
  const check = await checkLog(log, id, checking);
  const target = chainEventLog(log);
  let batch: LogRecord[] = [];
  let kept = 0;
  const flush = async (): Promise<void> => {
    const at = batch[0]?.at;
    if (batch.length > 0) await target.append(to, kept, batch.map(newRecord), { durability: "power", ...(at !== undefined && { at }) });
    kept += batch.length;
    batch = [];
  };
  if (check.sound > 0)
    for await (const record of log.read(id)) {
      // An append has one time.
      if (batch.length >= RECORDS_PER_APPEND || (batch[0] !== undefined && batch[0].at !== record.at)) await flush();
      batch.push(record);
      if (record.seq >= check.sound) break;
    }
  await flush();
  return { check, kept, dropped: Math.max(check.records, await log.head(id)) - kept };
}

function newRecord(record: LogRecord): NewRecord {
  const { key, type, data } = withoutLink(record);
  return { key, type, data };
}
