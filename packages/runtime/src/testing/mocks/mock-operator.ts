import { OperatorError, ZERO_USD, type ExecutionContext, type Operator, type OperatorInput, type OperatorOutput } from "@keelson/protocol";

/** What an operator answers at one call: a text, an output of which the rest is filled in, an error to fail with, or a function. */
export type MockAnswer =
  | string
  | Partial<OperatorOutput>
  | Error
  | ((input: OperatorInput, context: ExecutionContext) => string | Partial<OperatorOutput> | Promise<string | Partial<OperatorOutput>>);

export interface MockOperator extends Operator {
  /** What it was given, call by call. */
  readonly inputs: readonly OperatorInput[];
}

/** An operator that answers by script, one answer a call, and remembers what it was asked. When the script is exhausted, a call fails and says which one it was. */
export function mockOperator(answers: readonly MockAnswer[]): MockOperator {
  const inputs: OperatorInput[] = [];
  return {
    inputs,
    async execute(input, context) {
      const answer = answers[inputs.length];
      inputs.push(input);
      if (answer === undefined) {
        throw new OperatorError({
          kind: "non-retryable",
          message: `The script of this operator has ${answers.length} answers, and this is call ${inputs.length}.`,
        });
      }
      if (answer instanceof Error) throw answer;
      return outputFrom(typeof answer === "function" ? await answer(input, context) : answer);
    },
  };
}

function outputFrom(answer: string | Partial<OperatorOutput>): OperatorOutput {
  return {
    message: typeof answer === "string" ? [{ type: "text", text: answer }] : [],
    exitReason: { type: "complete" },
    metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
    effects: [],
    ...(typeof answer === "string" ? {} : answer),
  };
}
