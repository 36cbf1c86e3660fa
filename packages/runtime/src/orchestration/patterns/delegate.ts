import type { JsonObject, OperatorConfig, OperatorOutput, Orchestrator, SessionId } from "@keelson/protocol";
import { inputOf, optionsAt, type PatternOptions, type PatternTask } from "./pattern-task.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { definedOptions } from "../../json/defined-options.ts";

export interface DelegateOptions extends PatternOptions {
  /** Of this one dispatch, on top of the operator's own. */
  readonly limits?: { readonly [Limit in "maxTurns" | "maxCost" | "maxDurationMs"]?: OperatorConfig[Limit] | undefined } | undefined;
  /** When given, it may call only these. */
  readonly allowedOperators?: readonly string[] | undefined;
  /** Goes on in this session. Default: the operator's choice. */
  readonly session?: SessionId | string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Hands one task to an operator, within limits, and waits for its output. Rejects with `OrchestratorError`. */
export async function delegate(
  orchestrator: Pick<Orchestrator, "dispatch">,
  operator: string,
  task: PatternTask,
  options: DelegateOptions = {},
): Promise<OperatorOutput> {
  checkOptionNames("delegate", options, {
    limits: true,
    allowedOperators: true,
    session: true,
    metadata: true,
    id: true,
    parent: true,
    parentSession: true,
    deadline: true,
    authority: true,
    signal: true,
  });
  const { limits, allowedOperators, session, metadata } = options;
  const input = inputOf(task);
  const config: OperatorConfig = { ...input.config, ...definedOptions(limits ?? {}), ...(allowedOperators && { allowedOperators }) };
  return orchestrator.dispatch(
    operator,
    {
      ...input,
      ...(Object.keys(config).length > 0 && { config }),
      ...(session !== undefined && { session: session as SessionId }),
      metadata: { ...input.metadata, ...metadata },
    },
    optionsAt(options, "delegate"),
  );
}
