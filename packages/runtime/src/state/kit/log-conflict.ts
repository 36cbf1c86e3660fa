import { LogError, type LogId } from "@keelson/protocol";

/** Another writer was faster. */
export function staleSeq(log: LogId, expectedSeq: number, actualSeq: number): LogError {
  return new LogError({
    kind: "conflict",
    log,
    expectedSeq,
    actualSeq,
    message: `Log "${log}" is at ${actualSeq}, not at ${expectedSeq}: another writer has appended or the log was deleted. Read what is there before appending again.`,
  });
}

/** A key is taken: by a record at another place, or by one that says something else. */
export function takenKey(log: LogId, expectedSeq: number | "any", actualSeq: number, key: string): LogError {
  return new LogError({
    kind: "conflict",
    log,
    expectedSeq,
    actualSeq,
    message: `The key "${key}" is already taken by record ${actualSeq} of log "${log}". Another act needs another key.`,
  });
}

/** @throws LogError `invalid-input` unless it is a time that records may be said to stand since. */
export function assertTime(log: LogId, at: number): void {
  if (Number.isSafeInteger(at) && at >= 0) return;
  throw new LogError({
    kind: "invalid-input",
    message: `The time of an append to log "${log}" must be whole milliseconds of Unix time; it is ${String(at)}.`,
  });
}

export function closedLog(): LogError {
  return new LogError({ kind: "closed", message: "The event log was disposed of. Create another one to go on." });
}

export function deletedLog(log: LogId): LogError {
  return new LogError({ kind: "not-found", log, message: `Log "${log}" was deleted while it was read.` });
}

/** @throws LogError `invalid-input` unless it is `"any"` or a whole number from 0. */
export function assertExpectedSeq(log: LogId, expectedSeq: number | "any"): void {
  if (expectedSeq === "any" || (Number.isSafeInteger(expectedSeq) && expectedSeq >= 0)) return;
  throw new LogError({
    kind: "invalid-input",
    message: `expectedSeq for log "${log}" must be "any" or a whole number from 0; it is ${String(expectedSeq)}.`,
  });
}

/** @throws LogError `invalid-input` unless it is a whole number from 1. */
export function assertSealBefore(log: LogId, before: number): void {
  if (Number.isSafeInteger(before) && before >= 1) return;
  throw new LogError({
    kind: "invalid-input",
    message: `\`before\` of a sealing of log "${log}" must be the seq of a record, from 1; it is ${String(before)}.`,
  });
}
