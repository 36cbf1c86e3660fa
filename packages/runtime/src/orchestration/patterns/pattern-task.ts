import { operatorInput, type Content, type DispatchOptions, type OperatorInput, type OperatorOutput, type RunId } from "@keelson/protocol";
import { hasOutput } from "../../tools/has-output.ts";

/** What an operator is to do: in words, as content, or with all that a dispatch may carry. */
export type PatternTask = string | readonly Content[] | OperatorInput;

type OfEveryDispatch = { readonly [Option in Exclude<keyof DispatchOptions, "id">]?: DispatchOptions[Option] | undefined };

/**
 * For every dispatch of a pattern. With `id`, its dispatches have ids that follow from it: where the orchestrator remembers, the
 * same pattern begun again under one id goes on with what was done.
 */
export interface PatternOptions extends OfEveryDispatch {
  readonly id?: RunId | string | undefined;
}

export function inputOf(task: PatternTask): OperatorInput {
  return typeof task === "object" && "message" in task ? task : operatorInput(task, "task");
}

/** Options of one dispatch of a pattern. */
export function optionsAt(
  { id, parent, parentSession, deadline, authority, signal }: PatternOptions,
  place: string | number,
): DispatchOptions {
  return {
    ...(id !== undefined && { id: `${id}/${place}` as RunId }),
    ...(parent && { parent }),
    ...(parentSession && { parentSession }),
    ...(deadline !== undefined && { deadline }),
    ...(authority && { authority }),
    ...(signal && { signal }),
  };
}

const GOOD_ENDINGS: ReadonlySet<string> = new Set(["complete", "no-action", "handed-off"]);

/** True if an operator ended by itself with an output, and was not stopped by a limit, a person or a failure. */
export function endedWell({ exitReason, message }: OperatorOutput): boolean {
  return GOOD_ENDINGS.has(exitReason.type) && hasOutput(message);
}

/** Says how an operator ended that did not end well. */
export function describeEnding({ exitReason: { type } }: OperatorOutput): string {
  return GOOD_ENDINGS.has(type) ? `ended without an output (${type})` : `ended early (${type})`;
}
