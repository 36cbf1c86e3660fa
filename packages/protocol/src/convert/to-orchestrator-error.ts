import { EnvironmentError, type EnvironmentFailure } from "../errors/environment-error.ts";
import type { OperatorFailure } from "../errors/operator-error.ts";
import { OrchestratorError, type OrchestratorFailure } from "../errors/orchestrator-error.ts";
import { toOperatorError } from "./to-operator-error.ts";

/** An orchestrator's failure after the operator it dispatched to. */
export function toOrchestratorFailure(operator: OperatorFailure): OrchestratorFailure {
  return { kind: "operator-error", operator, message: operator.message };
}

/** An environment's failure after the operator it ran. */
export function toEnvironmentFailure(operator: OperatorFailure): EnvironmentFailure {
  return { kind: "operator-error", operator, message: operator.message };
}

/** Whatever a dispatch threw, as an orchestrator's error. Model and tool errors pass through the operator's words first. */
export function toOrchestratorError(error: unknown): OrchestratorError {
  return OrchestratorError.is(error)
    ? error
    : new OrchestratorError(toOrchestratorFailure(toOperatorError(error).failure), { cause: error });
}

export function toEnvironmentError(error: unknown): EnvironmentError {
  return EnvironmentError.is(error) ? error : new EnvironmentError(toEnvironmentFailure(toOperatorError(error).failure), { cause: error });
}
