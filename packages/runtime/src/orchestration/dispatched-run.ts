import type { Authority, OperatorInput, RunId, SessionId } from "@keelson/protocol";
import type { RunOptions, RunOrigin } from "../agent/definition/run.ts";

export interface DispatchTerms {
  readonly deadline?: number | undefined;
  readonly authority?: Authority | undefined;
  readonly parent?: { readonly run: RunId; readonly session?: SessionId } | undefined;
}

/** An operator's input and what it was dispatched with, as a run of an agent takes them. */
export function dispatchedRun(
  { config = {}, metadata }: OperatorInput,
  { deadline, authority, parent }: DispatchTerms,
): { readonly options: RunOptions; readonly origin: RunOrigin } {
  const { maxTurns, maxCost, maxDurationMs, model, allowedOperators, systemAddendum } = config;
  return {
    options: {
      limits: {
        ...(maxTurns !== undefined && { maxTurns }),
        ...(maxCost !== undefined && { maxCost }),
        ...(maxDurationMs !== undefined && { maxDurationMs }),
      },
      metadata,
      ...(model !== undefined && { model }),
      ...(deadline !== undefined && { deadline }),
    },
    origin: {
      ...(authority && { authority }),
      ...(parent && { parent }),
      ...(allowedOperators && { allowedTools: allowedOperators }),
      ...(systemAddendum !== undefined && { systemAddendum }),
    },
  };
}
