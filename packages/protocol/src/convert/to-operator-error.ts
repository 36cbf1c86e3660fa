import { AgentError, type AgentFailure } from "../errors/agent-error.ts";
import { describeCause } from "../errors/keelson-error.ts";
import { ModelError, type ModelFailure } from "../errors/model-error.ts";
import { OperatorError, type OperatorFailure } from "../errors/operator-error.ts";
import { OrchestratorError } from "../errors/orchestrator-error.ts";
import { ToolError, type ToolFailure } from "../errors/tool-error.ts";

/** What an operator makes of a failed model call: `model` where only the operator's owner can help. */
const OF_MODEL: { readonly [K in ModelFailure["kind"]]: "retryable" | "non-retryable" | "model" | "other" } = {
  "rate-limit": "retryable",
  "server-error": "retryable",
  "invalid-request": "non-retryable",
  "context-overflow": "non-retryable",
  "content-blocked": "non-retryable",
  "authentication": "model",
  "billing": "model",
  "invalid-response": "model",
  "max-output-tokens": "model",
  "cancelled": "other",
  "other": "model",
};

const OF_TOOL: { readonly [K in ToolFailure["kind"]]: "non-retryable" | "sub-dispatch" | "other" } = {
  "not-found": "sub-dispatch",
  "execution-failed": "sub-dispatch",
  "timeout": "sub-dispatch",
  "invalid-input": "non-retryable",
  "invalid-definition": "non-retryable",
  "cancelled": "other",
  "other": "other",
};

const OF_AGENT: { readonly [K in Exclude<AgentFailure["kind"], "model">]: "non-retryable" | "context-assembly" | "other" } = {
  "budget-exceeded": "non-retryable",
  "invalid-option": "non-retryable",
  "invalid-token": "non-retryable",
  "invalid-output": "other",
  "tool": "other",
  "strategy": "other",
  "middleware": "other",
  "directive": "other",
  "backend": "other",
  // The history that the run would have gone on from could not be read, or is not there to go on from.
  "session": "context-assembly",
  "panic": "other",
  "detached": "other",
  "bug": "other",
  "other": "other",
};

/** An operator's failure after its model's. Whoever called the operator sees no model error. */
export function toOperatorFailure(failure: ModelFailure): OperatorFailure {
  const { message } = failure;
  const kind = Object.hasOwn(OF_MODEL, failure.kind) ? OF_MODEL[failure.kind] : "model";
  if (kind === "retryable") {
    const wait = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
    return { kind, message, ...(wait !== undefined && { retryAfterMs: wait }) };
  }
  return { kind, message };
}

export function toolToOperatorFailure(failure: ToolFailure): OperatorFailure {
  const { message } = failure;
  const kind = Object.hasOwn(OF_TOOL, failure.kind) ? OF_TOOL[failure.kind] : "other";
  return kind === "sub-dispatch" ? { kind, message, operator: "tool" in failure ? failure.tool : "" } : { kind, message };
}

/** Whatever an operator's inside threw, as the error of its own boundary; the original is the cause. */
export function toOperatorError(error: unknown): OperatorError {
  if (OperatorError.is(error)) return error;
  return new OperatorError(operatorFailureOf(error), { cause: error });
}

function operatorFailureOf(error: unknown): OperatorFailure {
  if (ModelError.is(error)) return toOperatorFailure(error.failure);
  if (ToolError.is(error)) return toolToOperatorFailure(error.failure);
  if (AgentError.is(error)) {
    const { failure } = error;
    if (failure.kind === "model") return toOperatorFailure(failure.model);
    return { kind: Object.hasOwn(OF_AGENT, failure.kind) ? OF_AGENT[failure.kind] : "other", message: failure.message };
  }
  if (OrchestratorError.is(error)) {
    const { failure } = error;
    return {
      kind: "sub-dispatch",
      operator: "operator" in failure && typeof failure.operator === "string" ? failure.operator : "",
      message: failure.message,
    };
  }
  return { kind: "other", message: describeCause(error) };
}
