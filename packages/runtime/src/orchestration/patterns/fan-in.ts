import { OrchestratorError, type Content, type DispatchResult, type OperatorOutput, type Orchestrator } from "@keelson/protocol";
import { describeEnding, endedWell, inputOf, optionsAt, type PatternOptions, type PatternTask } from "./pattern-task.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface FanInOptions extends PatternOptions {
  /** What each result is called where the operator is told of it. Default: its number, from 1. */
  readonly names?: readonly string[] | undefined;
  /** What goes before the results. Default: nothing. */
  readonly task?: PatternTask | undefined;
  /** How many results must have ended well. Default 1. */
  readonly least?: number | undefined;
}

/**
 * Has one operator make one of many results. It is told of failures as failures. Where fewer than `least` ended well, it is not asked:
 * rejects with `OrchestratorError`.
 */
export async function fanIn(
  orchestrator: Pick<Orchestrator, "dispatch">,
  operator: string,
  results: readonly DispatchResult[],
  options: FanInOptions = {},
): Promise<OperatorOutput> {
  checkOptionNames("fanIn", options, {
    names: true,
    task: true,
    least: true,
    id: true,
    parent: true,
    parentSession: true,
    deadline: true,
    authority: true,
    signal: true,
  });
  const { names = [], task, least = 1 } = options;
  const good = results.filter((result) => result.ok && endedWell(result.output)).length;
  if (good < least) {
    const failures = results.flatMap((result) => (result.ok ? [] : [messageOf(result)])).join("; ");
    const message =
      `"${operator}" was not asked: ${good} of ${results.length} results ended well, and ${least} must. ${failures}`.trimEnd();
    throw new OrchestratorError({ kind: "dispatch-failed", message });
  }
  const input = inputOf(task ?? []);
  const told = results.flatMap((result, index) => tell(result, names[index] ?? String(index + 1)));
  return orchestrator.dispatch(operator, { ...input, message: [...input.message, ...told] }, optionsAt(options, "in"));
}

function tell(result: DispatchResult, name: string): readonly Content[] {
  if (!result.ok) return [{ type: "text", text: `Result ${name} failed: ${messageOf(result)}` }];
  const { output } = result;
  const head = endedWell(output) ? `Result ${name}:` : `Result ${name}, which ${describeEnding(output)}:`;
  return [{ type: "text", text: head }, ...output.message];
}

function messageOf({ error }: Extract<DispatchResult, { readonly ok: false }>): string {
  const { message, kind } = error.failure as { readonly message?: string; readonly kind: string };
  return message ?? kind;
}
