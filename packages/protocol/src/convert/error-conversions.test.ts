import { describe, expect, it } from "vitest";
import {
  AGENT_FAILURE_RETRYABLE,
  AgentError,
  DirectiveError,
  EnvironmentError,
  LogError,
  McpError,
  MODEL_FAILURE_RETRYABLE,
  ModelError,
  OperatorError,
  OrchestratorError,
  StateError,
  StrategyError,
  TOOL_FAILURE_RETRYABLE,
  ToolError,
  VfsError,
  type AgentFailure,
  type ModelFailure,
  type ToolFailure,
} from "../index.ts";
import { fromProviderFailure, PROVIDER_ERROR_RETRYABLE, toProviderFailure, type ProviderErrorKind } from "./provider-error.ts";
import { panicError, toAgentError } from "./to-agent-error.ts";
import { toolToOperatorFailure, toOperatorError, toOperatorFailure } from "./to-operator-error.ts";
import { toEnvironmentError, toOrchestratorError, toOrchestratorFailure } from "./to-orchestrator-error.ts";

const modelFailure = (kind: string, more: object = {}) => ({ kind, message: `${kind}!`, ...more }) as ModelFailure;
const modelKinds = Object.keys(MODEL_FAILURE_RETRYABLE) as ModelFailure["kind"][];

describe("a model failure in the words of the layered runtimes", () => {
  it("has one for every kind, and the same answer to whether to retry [PV-09]", () => {
    expect(Object.fromEntries(modelKinds.map((kind) => [kind, toProviderFailure(modelFailure(kind)).kind]))).toEqual({
      "authentication": "auth-failed",
      "billing": "other",
      "rate-limit": "rate-limited",
      "server-error": "transient-error",
      "invalid-request": "other",
      "invalid-response": "invalid-response",
      "max-output-tokens": "other",
      "context-overflow": "other",
      "content-blocked": "content-blocked",
      "cancelled": "other",
      "other": "other",
    });
    for (const kind of modelKinds)
      expect(PROVIDER_ERROR_RETRYABLE[toProviderFailure(modelFailure(kind)).kind]).toBe(MODEL_FAILURE_RETRYABLE[kind]);
    expect(toProviderFailure(modelFailure("from-the-future")).kind).toBe("other");
  });

  it("comes back as it went, message and status included [PV-09]", () => {
    for (const kind of Object.keys(PROVIDER_ERROR_RETRYABLE) as ProviderErrorKind[]) {
      for (const failure of [
        { kind, message: "m", status: 500 },
        { kind, message: "m" },
      ])
        expect(toProviderFailure(fromProviderFailure(failure))).toEqual(failure);
    }
    expect(fromProviderFailure({ kind: "from-the-future" as ProviderErrorKind, message: "m" })).toEqual({ kind: "other", message: "m" });
  });
});

describe("a failure on its way up", () => {
  it("of a model becomes an operator's, which alone says whether to retry [TE-01, OP-13, OP-14]", () => {
    expect(Object.fromEntries(modelKinds.map((kind) => [kind, toOperatorFailure(modelFailure(kind)).kind]))).toEqual({
      "authentication": "model",
      "billing": "model",
      "rate-limit": "retryable",
      "server-error": "retryable",
      "invalid-request": "non-retryable",
      "invalid-response": "model",
      "max-output-tokens": "model",
      "context-overflow": "non-retryable",
      "content-blocked": "non-retryable",
      "cancelled": "other",
      "other": "model",
    });
    for (const kind of modelKinds)
      expect(toOperatorError(new ModelError(modelFailure(kind))).retryable).toBe(MODEL_FAILURE_RETRYABLE[kind]);
    expect(toOperatorFailure(modelFailure("rate-limit", { retryAfterMs: 700 }))).toEqual({
      kind: "retryable",
      message: "rate-limit!",
      retryAfterMs: 700,
    });
    expect(toOperatorFailure(modelFailure("from-the-future"))).toEqual({ kind: "model", message: "from-the-future!" });
  });

  it("of a tool becomes an operator's [TE-01]", () => {
    const kinds = Object.keys(TOOL_FAILURE_RETRYABLE) as ToolFailure["kind"][];
    expect(
      Object.fromEntries(kinds.map((kind) => [kind, toolToOperatorFailure({ kind, message: "m", tool: "bash" } as ToolFailure)])),
    ).toEqual({
      "not-found": { kind: "sub-dispatch", operator: "bash", message: "m" },
      "execution-failed": { kind: "sub-dispatch", operator: "bash", message: "m" },
      "timeout": { kind: "sub-dispatch", operator: "bash", message: "m" },
      "invalid-input": { kind: "non-retryable", message: "m" },
      "invalid-definition": { kind: "non-retryable", message: "m" },
      "cancelled": { kind: "other", message: "m" },
      "other": { kind: "other", message: "m" },
    });
  });

  it("of an agent becomes an operator's: its model failure as such, budget and bad input as final, a session as its context [TE-01, OP-13]", () => {
    expect(toOperatorError(new AgentError({ kind: "model", model: modelFailure("rate-limit"), message: "m" })).failure).toMatchObject({
      kind: "retryable",
    });
    for (const kind of Object.keys(AGENT_FAILURE_RETRYABLE) as AgentFailure["kind"][]) {
      if (kind === "model") continue;
      const final = ["budget-exceeded", "invalid-option", "invalid-token"].includes(kind);
      expect(toOperatorError(new AgentError({ kind, message: "m" } as AgentFailure)).failure).toEqual({
        kind: final ? "non-retryable" : kind === "session" ? "context-assembly" : "other",
        message: "m",
      });
    }
  });

  it("never shows an orchestrator or environment a model error [TE-01, OR-09]", () => {
    const thrown = new ModelError(modelFailure("rate-limit", { provider: "p" }));
    for (const error of [toOrchestratorError(thrown), toEnvironmentError(thrown)]) {
      expect(error.failure).toEqual({
        kind: "operator-error",
        operator: { kind: "retryable", message: "rate-limit!" },
        message: "rate-limit!",
      });
      expect(error.cause).toBe(thrown);
    }
    expect(toOrchestratorFailure({ kind: "non-retryable", message: "m" })).toEqual({
      kind: "operator-error",
      operator: { kind: "non-retryable", message: "m" },
      message: "m",
    });
  });

  it("of a sub-dispatch becomes an operator's that names whom it called [TE-01]", () => {
    expect(
      toOperatorError(new OrchestratorError({ kind: "operator-not-found", operator: "ghost", available: [], message: "m" })).failure,
    ).toEqual({ kind: "sub-dispatch", operator: "ghost", message: "m" });
    expect(
      toOperatorError(new OrchestratorError({ kind: "operator-error", operator: { kind: "other", message: "x" }, message: "m" })).failure,
    ).toEqual({ kind: "sub-dispatch", operator: "", message: "m" });
  });

  it("stays itself in its own boundary, and keeps any other thrown value as the cause [TE-02]", () => {
    const operator = new OperatorError({ kind: "other", message: "m" });
    const orchestrator = new OrchestratorError({ kind: "other", message: "m" });
    const environment = new EnvironmentError({ kind: "other", message: "m" });
    const agent = new AgentError({ kind: "other", message: "m" });
    expect([toOperatorError(operator), toOrchestratorError(orchestrator), toEnvironmentError(environment), toAgentError(agent)]).toEqual([
      operator,
      orchestrator,
      environment,
      agent,
    ]);
    for (const thrown of ["text", 5, null, undefined, { a: 1 }, new TypeError("bad")]) {
      for (const convert of [toOperatorError, toOrchestratorError, toEnvironmentError, toAgentError]) {
        const error = convert(thrown);
        expect(error.cause).toBe(thrown);
        expect(error.message).toBe(thrown instanceof Error ? "bad" : String(thrown));
      }
    }
  });
});

describe("what reaches an agent's boundary", () => {
  it("is an AgentError, and only a model's failure keeps its structure [ET-03, ET-04]", () => {
    const model = modelFailure("billing", { status: 402 });
    expect(toAgentError(new ModelError(model)).failure).toEqual({ kind: "model", model, message: "billing!" });
    const failure = { kind: "other", message: "m" } as const;
    const kinds = [
      new ToolError(failure),
      new McpError(failure),
      new StrategyError(failure),
      new DirectiveError(failure),
      new StateError(failure),
      new LogError(failure),
      new VfsError(failure),
      new EnvironmentError(failure),
      new Error("m"),
    ].map((error) => toAgentError(error).failure);
    expect(kinds).toEqual(
      ["tool", "tool", "strategy", "directive", "backend", "backend", "backend", "backend", "other"].map((kind) => ({
        kind,
        message: "m",
      })),
    );
    expect(toAgentError(new ToolError({ kind: "timeout", tool: "bash", timeoutMs: 5, message: "m" })).failure).toEqual({
      kind: "tool",
      tool: "bash",
      message: "m",
    });
  });

  it("is a panic when user code threw it, whatever it threw [ET-06]", () => {
    for (const thrown of ["text", 5, undefined, new Error("boom")]) {
      const error = panicError("onModelError", thrown);
      expect(error.failure).toEqual({
        kind: "panic",
        callback: "onModelError",
        message: `onModelError threw: ${thrown instanceof Error ? "boom" : String(thrown)}`,
      });
      expect(error.cause).toBe(thrown);
    }
  });
});
