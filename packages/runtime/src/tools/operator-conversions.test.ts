import {
  type ExecutionContext,
  OperatorError,
  type OperatorInput,
  type OperatorOutput,
  type RunId,
  type SessionId,
  type StepAttempt,
  ToolError,
  ZERO_USD,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createToolCall,
  defineTool,
  dispatchInput,
  dispatchResult,
  isDispatchTool,
  operatorToTool,
  prepareCall,
  toolToOperator,
} from "./index.ts";

/** The part of a context that a tool as an operator needs: steps that run at once. */
function context(keys: string[] = []): ExecutionContext {
  return {
    runId: "r1" as RunId,
    session: "s1" as SessionId,
    signal: new AbortController().signal,
    step: async (key: string, run: (attempt: StepAttempt) => Promise<unknown>) => {
      keys.push(key);
      const value = await run({ number: 2, idempotencyKey: "r1/key", signal: new AbortController().signal, emit() {} });
      return { ok: true, value: JSON.parse(JSON.stringify(value)), startedAt: 10, endedAt: 25 };
    },
  } as unknown as ExecutionContext;
}

const add = defineTool({
  name: "add",
  description: "",
  effect: "read",
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }, call) => ({ sum: a + b, key: call.idempotencyKey, attempt: call.attempt, agent: call.agent, session: call.session }),
});
const message = (text: string): OperatorInput => ({ message: [{ type: "text", text }], trigger: "task", metadata: {} });

describe("a tool as an operator", () => {
  it("works wherever an operator is expected, as one step [TL-06, LA-14]", async () => {
    const keys: string[] = [];
    const output = await toolToOperator(add, { agent: "boss" }).execute(message('{"a": 2}'), context(keys));
    expect(keys).toStrictEqual(["tool/add"]);
    expect(output).toStrictEqual({
      message: [{ type: "text", text: '{"sum":3,"key":"r1/key","attempt":2,"agent":"boss","session":"s1"}' }],
      exitReason: { type: "complete" },
      metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 15, untracked: [] },
      effects: [],
    });
  });

  it("prefers arguments in the metadata to the message", async () => {
    const output = await toolToOperator(add).execute({ ...message("add two and two"), metadata: { input: { a: 2, b: 2 } } }, context());
    expect(output.message[0]).toMatchObject({ text: expect.stringContaining('"sum":4') });
  });

  it("rejects with an operator's error when the arguments do not fit or the tool fails", async () => {
    const refused = await toolToOperator(add)
      .execute(message("{}"), context())
      .catch((error: unknown) => error);
    expect(OperatorError.is(refused, "non-retryable") && ToolError.is(refused.cause, "invalid-input")).toBe(true);
    const failing = defineTool({
      name: "fail",
      description: "",
      input: {},
      execute: () => {
        throw new Error("broken");
      },
    });
    const failed = await toolToOperator(failing)
      .execute(message(""), context())
      .catch((error: unknown) => error);
    expect(OperatorError.is(failed, "non-retryable") && failed.message).toBe('The tool "fail" failed: broken');
  });

  it("passes parts on", async () => {
    const content = [{ type: "image" as const, mediaType: "image/png", data: "AA==" }];
    const shot = defineTool({ name: "shot", description: "", input: {}, execute: () => ({ type: "content", content }) });
    expect((await toolToOperator(shot).execute(message(""), context())).message).toStrictEqual(content);
  });
});

describe("an operator as a tool", () => {
  const research = operatorToTool({ name: "research", description: "Researches.", operator: "researcher" });
  const ended = (changes: Partial<OperatorOutput>): OperatorOutput => ({
    message: [{ type: "text", text: "found" }],
    exitReason: { type: "complete" },
    metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 1, subDispatches: [], durationMs: 0, untracked: [] },
    effects: [],
    ...changes,
  });

  it("is data that names the operator, and asks the model for a task [LA-14]", () => {
    expect(isDispatchTool(research)).toBe(true);
    expect(isDispatchTool(add)).toBe(false);
    expect(research).toMatchObject({
      effect: "write",
      concurrency: "exclusive",
      dispatch: { operator: "researcher" },
      inputSchema: { required: ["task"] },
    });
  });

  it("is started with the task as its message, and the arguments beside it", async () => {
    const prepared = await prepareCall(research, { input: { task: "find it" } });
    expect(prepared.ok && dispatchInput(research, prepared, "s1" as SessionId)).toStrictEqual({
      message: [{ type: "text", text: "find it" }],
      trigger: "task",
      session: "s1",
      metadata: { input: { task: "find it" } },
    });
  });

  it("may take other arguments, and say what the operator is told of them", async () => {
    const tool = operatorToTool({
      name: "review",
      description: "",
      operator: "reviewer",
      input: z.object({ file: z.string(), depth: z.number().default(2) }),
      config: { maxTurns: 3 },
      message: ({ file, depth }) => `Review ${file} at ${depth}`,
    });
    const prepared = await prepareCall(tool, { input: { file: "a.ts" } });
    expect(prepared.ok && dispatchInput(tool, prepared)).toStrictEqual({
      message: [{ type: "text", text: "Review a.ts at 2" }],
      trigger: "task",
      config: { maxTurns: 3 },
      metadata: { input: { file: "a.ts" } },
    });
    const plain = operatorToTool({
      name: "plain",
      description: "",
      operator: "p",
      input: { type: "object", properties: { b: {}, a: {} } },
    });
    expect(dispatchInput(plain, { input: { b: 1, a: 2 }, value: {} }).message).toStrictEqual([{ type: "text", text: '{"a":2,"b":1}' }]);
  });

  it("shows the model what the operator gave, cut to its limit", async () => {
    expect(await dispatchResult(research, ended({}))).toStrictEqual({ output: "found", isError: false });
    expect(await dispatchResult(research, ended({ message: [] }))).toStrictEqual({
      output: expect.stringMatching(/^\[\S+ ended without an output \(complete\)/),
      isError: true,
    });
    for (const message of [[{ type: "text", text: " \n" }], [{ type: "thinking", text: "hm" }]] as const)
      expect(await dispatchResult(research, ended({ message, exitReason: { type: "no-action" } }))).toMatchObject({
        output: expect.stringContaining("ended without an output (no-action)"),
        isError: true,
      });
    const small = operatorToTool({ name: "small", description: "", operator: "o", maxOutputBytes: 100 });
    expect(
      String((await dispatchResult(small, ended({ message: [{ type: "text", text: "x".repeat(500) }] }))).output).length,
    ).toBeLessThanOrEqual(100);
  });

  it("shows an early end as an error that says why", async () => {
    expect(await dispatchResult(research, ended({ exitReason: { type: "max-turns" } }))).toStrictEqual({
      output: "[research ended early: max-turns]\nfound",
      isError: true,
    });
    expect(
      await dispatchResult(research, ended({ exitReason: { type: "halted", by: "rule", reason: "not allowed" }, message: [] })),
    ).toStrictEqual({ output: "[research ended early: halted: not allowed]", isError: true });
  });

  it("cannot be executed as a leaf", () => {
    expect(() => research.execute({}, createToolCall())).toThrow(/start that as a child run/);
  });

  it("needs the operator's name", () => {
    expect(() => operatorToTool({ name: "x", description: "", operator: "" })).toThrow(/`operator`/);
  });

  it("turns into an operator and back without losing the arguments [TL-06]", async () => {
    const tool = operatorToTool({ name: "add_far", description: "", operator: "add", input: add.inputSchema });
    const prepared = await prepareCall(tool, { input: { a: 4 } });
    if (!prepared.ok) throw new Error(prepared.message);
    const output = await toolToOperator(add).execute(dispatchInput(tool, prepared), context());
    expect((await dispatchResult(tool, output)).output).toContain('"sum":5');
  });
});
