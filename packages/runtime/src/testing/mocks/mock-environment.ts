import { toEnvironmentError, type Environment, type EnvironmentSpec, type Operator, type OperatorInput } from "@keelson/protocol";
import { mockOperator, type MockOutput } from "./mock-operator.ts";

export interface MockEnvironment extends Environment {
  /** What it was asked to run and in which boundaries, in order. */
  readonly runs: readonly { readonly input: OperatorInput; readonly spec: EnvironmentSpec }[];
}

/** An environment without boundaries that remembers what it was asked. The operator it holds is given as it is, or as a script of outputs. */
export function mockEnvironment(operator: Operator | readonly MockOutput[]): MockEnvironment {
  const held = "execute" in operator ? operator : mockOperator(operator);
  const runs: MockEnvironment["runs"][number][] = [];
  return {
    runs,
    async run(input, spec, context) {
      runs.push({ input, spec });
      try {
        return await held.execute(input, context);
      } catch (error) {
        throw toEnvironmentError(error);
      }
    },
  };
}
