import { toOrchestratorError, type OperatorOutput, type Orchestrator, type SerializedError } from "@keelson/protocol";
import { endedWell, inputOf, optionsAt, type PatternOptions, type PatternTask } from "./pattern-task.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** How far a chain came. */
export interface ChainResult {
  /** Whether every operator came to its own end. */
  readonly ok: boolean;
  /** Of the operators that gave one, in order. Where the chain broke off, the last may be of the one that ended early. */
  readonly outputs: readonly OperatorOutput[];
  /** Why the operator behind the last output failed. */
  readonly error?: SerializedError;
}

/** One operator after another: each is told what the one before it said. The first that fails or ends early is the last; what was done is kept. */
export async function chain(
  orchestrator: Pick<Orchestrator, "dispatch">,
  operators: readonly string[],
  task: PatternTask,
  options: PatternOptions = {},
): Promise<ChainResult> {
  checkOptionNames("chain", options, { id: true, parent: true, parentSession: true, deadline: true, authority: true, signal: true });
  const outputs: OperatorOutput[] = [];
  let input = inputOf(task);
  for (const [index, operator] of operators.entries()) {
    let output: OperatorOutput;
    try {
      output = await orchestrator.dispatch(operator, input, optionsAt(options, index));
    } catch (error) {
      return { ok: false, outputs, error: toOrchestratorError(error).toJSON() };
    }
    outputs.push(output);
    if (!endedWell(output)) return { ok: false, outputs };
    // A session belongs to one operator: the next has its own.
    const { session: _, ...rest } = input;
    input = { ...rest, message: output.message };
  }
  return { ok: true, outputs };
}
