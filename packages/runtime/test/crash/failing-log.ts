import { type EventLog, LogError } from "@keelson/protocol";

/** How an append fails: refused; done, but its response is lost; or with what no log should throw. */
export type FailureMode = "refused" | "answer-lost" | "thrown";
export const FAILURE_MODES: readonly FailureMode[] = ["refused", "answer-lost", "thrown"];

export interface FailingLog extends EventLog {
  /** Appends that were asked for so far. */
  readonly asked: number;
}

/** A log whose append number `at` (from 1) fails; the later ones too, where it does not recover. */
export function failingLog(
  log: EventLog,
  { at, mode, recovers }: { readonly at: number; readonly mode: FailureMode; readonly recovers: boolean },
): FailingLog {
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    async append(id, expectedSeq, records, options) {
      asked++;
      if (asked !== at && (recovers || asked < at)) return log.append(id, expectedSeq, records, options);
      if (mode === "answer-lost" && asked === at) await log.append(id, expectedSeq, records, options);
      if (mode === "thrown") throw new TypeError("the log has a bug");
      throw new LogError({ kind: "unavailable", message: "the log is out of reach" });
    },
    read: (id, options) => log.read(id, options),
    head: (id) => log.head(id),
    list: (options) => log.list(options),
    delete: (id) => log.delete(id),
    acquire: (id, options) => log.acquire(id, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
