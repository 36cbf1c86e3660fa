import { appendFileSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventLog, NewRecord } from "@keelson/protocol";
import { watchedLog } from "../crash/watched-log.ts";
import { forgotten } from "./forgetful-log.ts";

export interface SteppingOptions {
  /** How many steps all processes together have done when the next one dies. */
  readonly killAt?: number;
  /** It dies before a record of this type is appended. */
  readonly killBefore?: string;
  /** What a process does to die. */
  readonly die: () => Promise<never>;
  /** Takes the ledger of tool calls out: reservations are forgotten as they are written. */
  readonly withoutLedger?: boolean;
}

/**
 * A log of which each append is two steps, before and after, counted in the directory by all processes: one of them dies at the step
 * given, once.
 */
export function steppingLog(log: EventLog, directory: string, options: SteppingOptions): EventLog {
  const { killAt, killBefore, die, withoutLedger = false } = options;
  const step = async (records: readonly NewRecord[], isBefore: boolean): Promise<void> => {
    appendFileSync(join(directory, "steps"), ".");
    // Two processes that step at once may both see a step more than their own.
    const isHere =
      (killAt !== undefined && stepsDone(directory) >= killAt) ||
      (isBefore && killBefore !== undefined && records.some(({ type }) => type === killBefore));
    if (isHere && isFirstToDie(directory)) await die();
  };
  return watchedLog(log, {
    ...(withoutLedger && { rewrite: (_log, records) => records.map(forgotten) }),
    before: (_log, records) => step(records, true),
    after: (_log, records) => step(records, false),
  });
}

export function stepsDone(directory: string): number {
  return existsSync(join(directory, "steps")) ? statSync(join(directory, "steps")).size : 0;
}

/** Takes the one death there is. */
function isFirstToDie(directory: string): boolean {
  try {
    writeFileSync(join(directory, "died"), "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

export function hasDied(directory: string): boolean {
  return existsSync(join(directory, "died"));
}
