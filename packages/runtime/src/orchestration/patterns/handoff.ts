import { OrchestratorError, type OperatorInput, type OperatorOutput, type Orchestrator } from "@keelson/protocol";
import { openHandoff } from "../../agent/definition/children/handoff.ts";
import { inputOf, optionsAt, type PatternOptions, type PatternTask } from "./pattern-task.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface HandoffPatternOptions extends PatternOptions {
  /** More than these count as going in circles. Default 8. */
  readonly maxHandoffs?: number | undefined;
}

export interface HandoffResult {
  /** Of the operator that had the task last. */
  readonly output: OperatorOutput;
  /** Who had the task, in order. */
  readonly operators: readonly string[];
}

/**
 * Starts an operator, and whoever it hands its task to, until one gives the output. An operator hands on by ending `handed-off` with a `handoff`
 * effect; where that names a session, the next goes on in it. Rejects with `OrchestratorError`.
 */
export async function handoff(
  orchestrator: Pick<Orchestrator, "dispatch">,
  operator: string,
  task: PatternTask,
  options: HandoffPatternOptions = {},
): Promise<HandoffResult> {
  checkOptionNames("handoff", options, {
    maxHandoffs: true,
    id: true,
    parent: true,
    parentSession: true,
    deadline: true,
    authority: true,
    signal: true,
  });
  const { maxHandoffs = 8 } = options;
  const operators = [operator];
  let input: OperatorInput = inputOf(task);
  for (;;) {
    const current = operators.at(-1) as string;
    const output = await orchestrator.dispatch(current, input, optionsAt(options, operators.length - 1));
    const next = output.exitReason.type === "handed-off" ? openHandoff(output.effects) : undefined;
    if (next === undefined) return { output, operators };
    if (operators.length > maxHandoffs) {
      const message = `The task was handed on more than ${maxHandoffs} times: ${[...operators, next.operator].join(", ")}.`;
      throw new OrchestratorError({ kind: "other", message });
    }
    operators.push(next.operator);
    const { session: _, ...rest } = input;
    input = { ...rest, message: [{ type: "text", text: next.task }], ...(next.session !== undefined && { session: next.session }) };
  }
}
