import { OperatorError, ZERO_USD, type ExecutionContext, type Operator, type OperatorInput, type OperatorOutput } from "@keelson/protocol";

/** What an operator gives at one call: a text, an output of which the rest is filled in, an error to fail with, or a function. */
export type MockOutput =
  | string
  | Partial<OperatorOutput>
  | Error
  | ((input: OperatorInput, context: ExecutionContext) => string | Partial<OperatorOutput> | Promise<string | Partial<OperatorOutput>>);

export interface MockOperator extends Operator {
  /** What it was given, call by call. */
  readonly inputs: readonly OperatorInput[];
}

/** An operator that gives outputs by script, one a call, and remembers what it was asked. When the script is exhausted, a call fails and says which one it was. */
export function mockOperator(outputs: readonly MockOutput[]): MockOperator {
  const inputs: OperatorInput[] = [];
  return {
    inputs,
    async execute(input, context) {
      const output = outputs[inputs.length];
      inputs.push(input);
      if (output === undefined) {
        throw new OperatorError({
          kind: "non-retryable",
          message: `The script of this operator has ${outputs.length} outputs, and this is call ${inputs.length}.`,
        });
      }
      if (output instanceof Error) throw output;
      return outputFrom(typeof output === "function" ? await output(input, context) : output);
    },
  };
}

function outputFrom(output: string | Partial<OperatorOutput>): OperatorOutput {
  return {
    message: typeof output === "string" ? [{ type: "text", text: output }] : [],
    exitReason: { type: "complete" },
    metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
    effects: [],
    ...(typeof output === "string" ? {} : output),
  };
}
