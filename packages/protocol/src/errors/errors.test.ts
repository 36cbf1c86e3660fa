import { describe, expect, it } from "vitest";
import * as protocol from "../index.ts";
import {
  AgentError,
  AGENT_FAILURE_RETRYABLE,
  DecodeError,
  DIRECTIVE_FAILURE_RETRYABLE,
  DirectiveError,
  errorFromJSON,
  KeelsonError,
  MODEL_FAILURE_RETRYABLE,
  ModelError,
  OPERATOR_FAILURE_RETRYABLE,
  OperatorError,
  ORCHESTRATOR_FAILURE_RETRYABLE,
  StateError,
  STATE_FAILURE_RETRYABLE,
  STRATEGY_FAILURE_RETRYABLE,
  StrategyError,
  TOOL_FAILURE_RETRYABLE,
  usd,
  compareUsd,
  VFS_FAILURE_RETRYABLE,
  VfsError,
  type ModelFailure,
  type SerializedError,
} from "../index.ts";

interface ErrorClass {
  readonly name: string;
  new (failure: never, options?: { readonly cause?: unknown }): KeelsonError;
  is(error: unknown, kind?: string): boolean;
  fromJSON(data: SerializedError): KeelsonError;
}
const classes = Object.entries(protocol).filter(
  ([name]) => name.endsWith("Error") && !["KeelsonError", "panicError"].includes(name) && !name.startsWith("to"),
) as unknown as [string, ErrorClass][];
/** `AgentError` has the table `AGENT_FAILURE_RETRYABLE`. */
const tableOf = (name: string) =>
  (protocol as unknown as Record<string, Record<string, boolean>>)[`${name.replace("Error", "").toUpperCase()}_FAILURE_RETRYABLE`]!;
const make = (name: string, failure: object, cause?: unknown) =>
  new (Object.fromEntries(classes)[name]!)(failure as never, cause === undefined ? {} : { cause });

it("has one error class for each boundary [ET-02, ER-02]", () => {
  expect(classes.map(([name]) => name).sort()).toEqual([
    "AgentError",
    "DecodeError",
    "DirectiveError",
    "EnvironmentError",
    "LogError",
    "McpError",
    "ModelError",
    "OperatorError",
    "OrchestratorError",
    "StateError",
    "StrategyError",
    "ToolError",
    "VfsError",
  ]);
});

describe.each(classes)("%s", (name, Class) => {
  it("is told apart by its brand and kind, also across copies of this package", () => {
    const error = make(name, { kind: "other", message: "m" });
    const foreign = Object.assign(new Error("m"), { "~keelson": name, "failure": { kind: "other", message: "m" } });
    for (const one of [error, foreign]) {
      expect(Class.is(one)).toBe(true);
      expect(Class.is(one, "other")).toBe(true);
      expect(Class.is(one, "something-else")).toBe(false);
    }
    for (const [, Other] of classes) expect(Other.is(error)).toBe(Other === Class);
    for (const nothing of [undefined, null, "e", {}, new Error("e"), { "~keelson": name }]) expect(Class.is(nothing)).toBe(false);
    expect(error).toBeInstanceOf(KeelsonError);
    expect([error.name, error.message, error.cause]).toEqual([name, "m", undefined]);
  });

  it("survives JSON with class, failure, cause and whether to retry, for every kind [ET-17, TE-02, TE-04]", () => {
    for (const [kind, retryable] of Object.entries(tableOf(name))) {
      const failure = { kind, message: `${kind} happened`, detail: [1, { a: "b" }] };
      const error = make(name, failure, new Error("the cause"));
      const json = JSON.parse(JSON.stringify(error)) as SerializedError;
      expect(json).toEqual({ v: 1, error: name, failure, retryable, cause: "the cause" });
      const back = errorFromJSON(json);
      expect(Class.is(back, kind)).toBe(true);
      expect(back).toBeInstanceOf(Class as never);
      expect([back.failure, back.retryable, back.message, back.cause]).toEqual([failure, retryable, `${kind} happened`, "the cause"]);
      expect(JSON.parse(JSON.stringify(back))).toEqual(json);
    }
  });

  it("has a kind `other` for whatever else went wrong, and takes the thrown value as its cause [TE-02]", () => {
    expect(tableOf(name)).toHaveProperty("other");
    const cause = { thrown: true };
    expect(make(name, { kind: "other", message: "m" }, cause).cause).toBe(cause);
  });

  it("of a kind from a later version is read and not retried [ET-15]", () => {
    const json = { v: 1, error: name, failure: { kind: "from-the-future", message: "m", extra: 1 }, retryable: true } as const;
    const back = errorFromJSON(json);
    expect(Class.is(back)).toBe(true);
    expect([back.failure, back.retryable]).toEqual([json.failure, false]);
  });
});

describe("reading an error", () => {
  it("of an unknown class keeps it whole in an AgentError [ET-15]", () => {
    const json = {
      v: 1,
      error: "WeatherError",
      failure: { kind: "rain", message: "it rains" },
      retryable: false,
      cause: "clouds",
    } as const;
    const error = errorFromJSON(json);
    expect(AgentError.is(error, "other") && error.failure).toEqual({ kind: "other", message: "it rains", error: json });
    expect(error.cause).toBe("clouds");
  });

  it("refuses what is none", () => {
    for (const bad of [
      null,
      {},
      { v: 1, error: "AgentError", failure: "text", retryable: false },
      { v: 1, error: "AgentError", failure: { kind: "other" }, retryable: false },
    ]) {
      expect(() => errorFromJSON(bad)).toThrow(DecodeError);
    }
    expect(() => errorFromJSON({ v: 9, error: "AgentError", failure: { kind: "other", message: "" }, retryable: false })).toThrow(
      /version 9/,
    );
  });
});

describe("a model error", () => {
  const failed = (kind: ModelFailure["kind"], more: object = {}) => new ModelError({ kind, message: kind, ...more } as ModelFailure);

  it("is retryable exactly for rate limits and server errors [ER-03, ER-04, ER-05, ER-06, ER-07, ER-08, ER-09, ET-07, ET-08]", () => {
    const retryable = (Object.keys(MODEL_FAILURE_RETRYABLE) as ModelFailure["kind"][]).filter((kind) => failed(kind).retryable);
    expect(retryable.sort()).toEqual(["rate-limit", "server-error"]);
    for (const kind of ["authentication", "billing", "invalid-request", "max-output-tokens"] as const)
      expect(failed(kind).retryable).toBe(false);
  });

  it("says how long to wait when the vendor did, and nothing when it didn't [ET-09]", () => {
    expect(failed("rate-limit", { retryAfterMs: 1_500 }).failure).toHaveProperty("retryAfterMs", 1_500);
    expect(failed("rate-limit").failure).not.toHaveProperty("retryAfterMs");
  });
});

describe("an agent error", () => {
  it("has every kind of failure that can end a run [ER-01, ER-02, ET-02]", () => {
    expect(Object.keys(AGENT_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining(["model", "tool", "strategy", "middleware", "directive", "backend", "session", "panic", "budget-exceeded"]),
    );
    expect(AGENT_FAILURE_RETRYABLE).not.toHaveProperty("vfs");
  });

  it("carries the limit and what was spent as exact amounts, from other processes too, so that nobody parses a text [ET-05, ET-18]", () => {
    const limitUsd = usd("9007199254740993.000000000001");
    const spentUsd = usd("9007199254740993.000000000002");
    const error = new AgentError({ kind: "budget-exceeded", limitUsd, spentUsd, message: "over budget" });
    const told = errorFromJSON(JSON.parse(JSON.stringify(error)));
    if (!AgentError.is(told, "budget-exceeded")) throw told;
    expect(told.failure).toEqual({ kind: "budget-exceeded", limitUsd, spentUsd, message: "over budget" });
    expect(compareUsd(told.failure.spentUsd, told.failure.limitUsd)).toBeGreaterThan(0);
    expect(told.retryable).toBe(false);
  });

  it("carries the model's whole failure, and of other layers a text [ET-04]", () => {
    const model: ModelFailure = { kind: "rate-limit", message: "slow down", retryAfterMs: 9, provider: "p", status: 429 };
    const error = errorFromJSON(JSON.parse(JSON.stringify(new AgentError({ kind: "model", model, message: "m" }))));
    expect(AgentError.is(error, "model") && error.failure.model).toEqual(model);
  });
});

describe("the failures of other boundaries", () => {
  it("carry what a caller needs to answer them [ET-01, ET-17]", () => {
    const traversal = new VfsError({ kind: "path-traversal", attempted: "/etc/passwd", root: "/project", message: "m" });
    expect(VfsError.is(traversal, "path-traversal") && [traversal.failure.attempted, traversal.failure.root]).toEqual([
      "/etc/passwd",
      "/project",
    ]);
    const transition = new StrategyError({
      kind: "invalid-transition",
      currentState: "a",
      attemptedAction: "x",
      validActions: ["y"],
      message: "m",
    });
    expect(StrategyError.is(transition, "invalid-transition") && transition.failure.validActions).toEqual(["y"]);
    const guard = new StrategyError({ kind: "guard-rejected", guards: ["g"], message: "m" });
    expect(StrategyError.is(guard, "guard-rejected") && guard.failure.guards).toEqual(["g"]);
    const missing = new StateError({ kind: "not-found", scope: "global", key: "k", message: "m" });
    expect(StateError.is(missing, "not-found") && missing.failure.key).toBe("k");
    const directive = new DirectiveError({ kind: "unknown-payload", customType: "t", message: "m" });
    expect(DirectiveError.is(directive, "unknown-payload") && directive.failure.customType).toBe("t");
  });

  it("keep the system's error as the cause, with its code [ET-12]", () => {
    const cause = Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
    const error = new VfsError({ kind: "io", path: "/a", code: "ENOSPC", message: "could not write /a" }, { cause });
    expect(error.cause).toBe(cause);
    expect(VfsError.is(error, "io") && error.failure.code).toBe("ENOSPC");
    expect(error.toJSON().cause).toBe("no space left on device, write (ENOSPC)");
  });

  it("cover the kinds that each boundary promises [OP-13, OP-14, OR-09, TL-05]", () => {
    expect(Object.keys(OPERATOR_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining(["model", "sub-dispatch", "context-assembly", "retryable", "non-retryable", "other"]),
    );
    expect(Object.keys(ORCHESTRATOR_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining([
        "operator-not-found",
        "workflow-not-found",
        "dispatch-failed",
        "signal-failed",
        "operator-error",
        "policy-denied",
        "other",
      ]),
    );
    expect(Object.keys(TOOL_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining(["not-found", "execution-failed", "invalid-input", "other"]),
    );
    expect(Object.keys(STATE_FAILURE_RETRYABLE)).toEqual(expect.arrayContaining(["not-found", "write-failed", "serialization", "other"]));
    expect(Object.keys(STRATEGY_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining(["invalid-transition", "guard-rejected", "no-initial-state", "execution"]),
    );
    expect(Object.keys(DIRECTIVE_FAILURE_RETRYABLE)).toEqual(expect.arrayContaining(["execution-failed", "unsupported"]));
    expect(Object.keys(VFS_FAILURE_RETRYABLE)).toEqual(
      expect.arrayContaining([
        "not-found",
        "permission-denied",
        "is-directory",
        "path-traversal",
        "scope-violation",
        "resource-limit",
        "timeout",
        "operation-denied",
        "unsupported",
        "io",
      ]),
    );
    const retryable = Object.entries(OPERATOR_FAILURE_RETRYABLE).filter(([, retry]) => retry);
    expect(retryable).toEqual([["retryable", true]]);
    expect(new OperatorError({ kind: "retryable", message: "m" }).retryable).toBe(true);
  });
});
