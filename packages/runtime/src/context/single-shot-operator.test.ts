import { OperatorError, type ExecutionContext, type OperatorInput } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { mockExecutionContext } from "../testing/mocks/mock-execution-context.ts";
import { scriptedModel, type ScriptedTurn } from "../testing/scripted-model.ts";
import { createSingleShotOperator } from "./single-shot-operator.ts";

const executionContext = (): ExecutionContext => mockExecutionContext({ clock: { now: () => 5, after: () => () => {} } }).context;
const input = (fields: Partial<OperatorInput> = {}): OperatorInput => ({
  message: [{ type: "text", text: "What is 1 + 1?" }],
  trigger: "user",
  metadata: {},
  ...fields,
});

function shot(turns: readonly ScriptedTurn[], options: { readonly systemPrompt?: string; readonly maxTokens?: number } = {}) {
  const model = scriptedModel(turns);
  return { model, operator: createSingleShotOperator({ provider: model, model: "small", ...options }) };
}

describe("a single-shot operator", () => {
  it("makes exactly one model call, without tools, and its exit is complete [CE-25]", async () => {
    const { model, operator } = shot([{ thinking: "easy", text: "2", stopReason: "max-tokens" }], {
      systemPrompt: "Be exact.",
      maxTokens: 100,
    });
    const output = await operator.execute(input(), executionContext());
    expect(model.requests).toEqual([
      {
        model: "small",
        system: "Be exact.",
        maxTokens: 100,
        messages: [{ role: "user", content: [{ type: "text", text: "What is 1 + 1?" }] }],
      },
    ]);
    expect(output).toMatchObject({
      message: [{ type: "text", text: "2" }],
      exitReason: { type: "complete" },
      effects: [],
      metadata: { tokensIn: 10, tokensOut: 5, turnsUsed: 1, cost: "0", untracked: ["cost"] },
    });
  });

  it("is configured per invocation: model and an addition to the prompt [CE-25, OP-05]", async () => {
    const { model, operator } = shot(["2"], { systemPrompt: "Be exact." });
    await operator.execute(input({ config: { model: "large", systemAddendum: "And kind." } }), executionContext());
    expect(model.requests[0]).toMatchObject({ model: "large", system: "Be exact.\n\nAnd kind." });
  });

  it("fails with an operator's error that says whether to try again [CE-25, OP-14, TE-01]", async () => {
    const failures = [
      [
        { kind: "rate-limit", retryAfterMs: 1500 },
        { kind: "retryable", retryAfterMs: 1500 },
      ],
      [{ kind: "authentication" }, { kind: "model" }],
      [{ kind: "context-overflow" }, { kind: "non-retryable" }],
    ] as const;
    for (const [failure, expected] of failures) {
      const { model, operator } = shot([{ error: failure }]);
      const error: unknown = await operator.execute(input(), executionContext()).catch((caught: unknown) => caught);
      expect(OperatorError.is(error) && error.failure).toMatchObject(expected);
      expect(model.requests).toHaveLength(1);
    }
  });
});
