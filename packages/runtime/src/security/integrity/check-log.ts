import { type EventLog, LogError, type LogId } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { describeProblem, isChained, linkOf, type Link, problemWith, type RecordProblem, START } from "./record-chain.ts";

/** Where a log ended, to be kept elsewhere: nothing else shows that records are missing at its end. */
export type LogHead = Link;

export interface LogProblem {
  readonly seq: number;
  readonly problem: RecordProblem | "unreadable" | "cut-off" | "replaced";
  /** In words, with the place. */
  readonly message: string;
}

export interface LogCheck {
  readonly log: LogId;
  /** How many could be read. */
  readonly records: number;
  /** Of those, how many have no hash: written by an earlier version, or past `chainEventLog`. What is wrong with them is not found, but for the last of them before one that has a hash. */
  readonly unchained: number;
  /** The last record before which, and in which, nothing is wrong, nor may be: one without a hash is not sound where the one behind it does not follow it. */
  readonly sound: number;
  /** Where the log ends, if it has a hash there: see {@link LogHead}. */
  readonly head?: LogHead;
  /** In the order of their places; at most `maxProblems`. */
  readonly problems: readonly LogProblem[];
}

export interface CheckLogOptions {
  /** Where the log ended, or went on, when that was kept. */
  readonly head?: LogHead | undefined;
  /** Default 100. */
  readonly maxProblems?: number | undefined;
}

/**
 * Reads a log and says what is wrong with it: records that are missing, were changed, stand at another place or can't be read, and an end
 * that is not there any more. Changes nothing.
 * @param log the one that `chainEventLog` is around, which shows the hashes
 */
export async function checkLog(log: EventLog, id: LogId, options: CheckLogOptions = {}): Promise<LogCheck> {
  checkOptionNames("checkLog", options, { head: true, maxProblems: true });
  const { head, maxProblems = 100 } = options;
  const problems: LogProblem[] = [];
  let [records, unchained, last, lastChained, before] = [0, 0, 0, false, START];
  let firstBad = Number.POSITIVE_INFINITY;
  let atHead: Link | undefined = head?.seq === 0 ? START : undefined;
  const note = (seq: number, problem: LogProblem["problem"], message: string): void => void problems.push({ seq, problem, message });
  try {
    for await (const record of log.read(id)) {
      const problem = problemWith(id, before, record);
      const at = problem === "missing" ? before.seq + 1 : record.seq;
      if (problem !== undefined) {
        note(at, problem, describeProblem(id, at, problem));
        // It may be the one before that was changed, and that has no hash to show it.
        firstBad = Math.min(firstBad, problem === "changed" && last > 0 && !lastChained ? last : at);
      }
      before = linkOf(id, record);
      last = record.seq;
      lastChained = isChained(record);
      if (!lastChained) unchained++;
      records++;
      if (head !== undefined && record.seq === head.seq) atHead = before;
      if (problems.length >= maxProblems) break;
    }
  } catch (error) {
    if (!LogError.is(error, "corrupt")) throw error;
    const seq = error.failure.seq ?? last + 1;
    note(seq, "unreadable", error.message);
  }
  if (head !== undefined && problems.length < maxProblems) {
    if (atHead === undefined && last < head.seq)
      note(last + 1, "cut-off", `Log "${id}" ends at record ${last}, and went to record ${head.seq} at least: the rest is missing.`);
    else if (atHead !== undefined && atHead.hash !== head.hash)
      note(
        head.seq,
        "replaced",
        `Record ${head.seq} of log "${id}" is another than the one that was kept as its head: the log was made anew.`,
      );
  }
  problems.sort((one, other) => one.seq - other.seq);
  for (const { seq, problem } of problems) firstBad = Math.min(firstBad, problem === "replaced" && problems.length === 1 ? 1 : seq);
  return {
    log: id,
    records,
    unchained,
    sound: Math.min(last, firstBad - 1),
    ...(lastChained && { head: before }),
    problems,
  };
}
