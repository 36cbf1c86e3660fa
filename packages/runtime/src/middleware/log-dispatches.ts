import { OrchestratorError, type OperatorOutput } from "@keelson/protocol";
import type { DispatchObserver } from "./dispatch-middleware.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { FUNCTION_OPTION } from "../json/option-rules.ts";

/** One dispatch that is over. */
export interface DispatchLogEntry {
  readonly operator: string;
  readonly session?: string;
  readonly id?: string;
  readonly parent?: string;
  /** Unix ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome:
    | { readonly ok: true; readonly exitReason: OperatorOutput["exitReason"]["type"] }
    /** `kind` of the `OrchestratorError`. */
    | { readonly ok: false; readonly kind: string; readonly message: string };
}

/** An observer that hands over an entry for each dispatch when it is over, refused ones included. The caller waits for `write`. */
export function logDispatches(options: {
  /** Unix ms. */
  now(): number;
  write(entry: DispatchLogEntry): void | Promise<void>;
}): DispatchObserver {
  checkOptionNames("logDispatches", options, { now: FUNCTION_OPTION, write: true });
  const { now, write } = options;
  return {
    name: "log-dispatches",
    async dispatch(operator, { session }, next, { id, parent }) {
      const startedAt = now();
      let outcome: DispatchLogEntry["outcome"];
      try {
        outcome = { ok: true, exitReason: (await next()).exitReason.type };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        outcome = { ok: false, kind: OrchestratorError.is(error) ? error.failure.kind : "other", message };
      }
      await write({
        operator,
        ...(session !== undefined && { session }),
        ...(id !== undefined && { id }),
        ...(parent !== undefined && { parent }),
        startedAt,
        durationMs: now() - startedAt,
        outcome,
      });
    },
  };
}
