import type { JsonObject } from "@keelson/protocol";
import type { RunOutcome, SingleRunner } from "../../src/index.ts";
import type { Life } from "./life.ts";

/** A session that the first life leaves behind, and how another goes on with it. Agents are the same in both. */
export interface Scenario {
  /** Of the session, too. */
  readonly name: string;
  /** Other sessions that come of it, beside those of children. */
  readonly others?: readonly string[];
  open(life: Life): SingleRunner;
  /** @returns what readers of the log need to know beside it: tokens */
  write(runner: SingleRunner, life: Life): Promise<JsonObject | void>;
  /** Default: resumes the session, once. */
  goOn?(runner: SingleRunner, life: Life, noted: JsonObject): Promise<readonly (RunOutcome<unknown> | undefined)[]>;
}

/** The part of an outcome that no later version may change. */
export function summaryOf(outcome: RunOutcome<unknown> | undefined): JsonObject {
  if (outcome === undefined) return { reason: "(it went on)" };
  const { reason, text, usage, cost, output, error, waits, effects } = outcome;
  return {
    reason,
    text,
    cost,
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
    ...(output !== undefined && { output: output as JsonObject }),
    ...(error && { error: error.failure.kind }),
    ...(waits && { waits: waits.map(({ type }) => type) }),
    ...(effects.length > 0 && { effects: effects.map(({ type, meta }) => `${type} ${meta?.outcome ?? "open"}`) }),
  };
}
