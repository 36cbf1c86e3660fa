import type { ExecutionContext } from "./execution-context.ts";
import type { OperatorId } from "./ids.ts";
import type { OperatorInput } from "./operator-input.ts";
import type { OperatorOutput } from "./operator-output.ts";

/** One method, atomic from outside: either an output or an `OperatorError`. */
export interface Operator {
  execute(input: OperatorInput, context: ExecutionContext): Promise<OperatorOutput>;
}

/** Operators by id, as orchestrators register them. */
export type OperatorRegistry = ReadonlyMap<OperatorId, Operator>;
