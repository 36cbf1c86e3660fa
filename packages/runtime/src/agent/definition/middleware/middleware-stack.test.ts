import { AgentError, textMessage, type MiddlewareInput, type MiddlewareResult, type Tool } from "@keelson/protocol";
import { describe, expect, expectTypeOf, it } from "vitest";
import { createMiddlewareStack } from "./middleware-stack.ts";
import type { PromptMiddleware } from "./prompt-middleware.ts";
import { isOverThreshold, summarisationMark } from "./summarisation-mark.ts";

const input: MiddlewareInput = { messages: [textMessage("user", "go")], context: { trail: [] } };

/** Adds its name to the trail in the context. */
function signing(name: string): PromptMiddleware {
  return {
    name,
    process: ({ messages, context }) => ({
      type: "continue",
      input: { messages, context: { ...context, trail: [...(context["trail"] as readonly string[]), name] } },
    }),
  };
}
const refusing: PromptMiddleware = { name: "refusing", process: () => ({ type: "terminate", reason: "not today" }) };
const named = (name: string): Tool => ({ name }) as Tool;

const optionOf = (act: () => unknown): unknown => {
  try {
    act();
    return "nothing thrown";
  } catch (error) {
    return AgentError.is(error, "invalid-option") ? error.failure.option : error;
  }
};

describe("a stack of prompt middleware", () => {
  it("begins empty, lets everything through, and grows at its end [MW-03]", async () => {
    const stack = createMiddlewareStack();
    expect([...stack]).toEqual([]);
    expect([stack.size, stack.processes, stack.marks]).toEqual([0, false, false]);
    expect(await stack.run(input)).toEqual({ type: "continue", input });
    stack.push(signing("a")).push(signing("b"));
    expect([...stack].map(({ name }) => name)).toEqual(["a", "b"]);
    expect(stack.size).toBe(2);
  });

  it("takes messages and a context, and gives them as its middleware changed them, or why nothing comes of it [MW-01, MW-02]", async () => {
    expectTypeOf<MiddlewareInput["messages"][number]>().toHaveProperty("role");
    expectTypeOf<MiddlewareResult["type"]>().toEqualTypeOf<"continue" | "terminate">();
    const shouting: PromptMiddleware = {
      name: "shouting",
      process: ({ context }) => ({ type: "continue", input: { messages: [textMessage("user", "GO")], context } }),
    };
    expect(await createMiddlewareStack([shouting]).run(input)).toEqual({
      type: "continue",
      input: { messages: [textMessage("user", "GO")], context: { trail: [] } },
    });
    expect(await createMiddlewareStack([refusing]).run(input)).toEqual({ type: "terminate", reason: "not today" });
  });

  it("runs all of them in order, each on what the one before left, and none behind the first that terminates [MW-04]", async () => {
    const after = { name: "after", process: () => expect.unreachable() };
    const result = await createMiddlewareStack([signing("a"), { name: "idle" }, signing("b")]).run(input);
    expect(result).toMatchObject({ input: { context: { trail: ["a", "b"] } } });
    expect(await createMiddlewareStack([signing("a"), refusing, after]).run(input)).toEqual({ type: "terminate", reason: "not today" });
  });

  it("collects additions to the system prompt, and tools, in order [MW-05, MW-06]", () => {
    const stack = createMiddlewareStack([
      { name: "a", systemPromptAdditions: () => ["one", "two"], tools: () => [named("x")] },
      { name: "b" },
      { name: "c", systemPromptAdditions: () => ["three"], tools: () => [named("y"), named("z")] },
    ]);
    expect(stack.systemPromptAdditions()).toEqual(["one", "two", "three"]);
    expect(stack.tools().map(({ name }) => name)).toEqual(["x", "y", "z"]);
  });

  it("takes no more once it is frozen, and nothing that is no middleware [MW-07]", () => {
    const stack = createMiddlewareStack([signing("a")]).freeze();
    expect(optionOf(() => stack.push(signing("b")))).toBe("middleware");
    expect(stack.size).toBe(1);
    expect(optionOf(() => createMiddlewareStack([signing("a"), {} as PromptMiddleware]))).toBe("middleware[1]");
    expect(optionOf(() => createMiddlewareStack([{ name: "a", tools: [] } as never]))).toBe("middleware[0].tools");
  });
});

describe("the summarisation mark", () => {
  const small = { messages: 50, tokens: 80_000, contextUtilization: 0.8 };

  it("is set when there are more messages, or more tokens, or the model's context is fuller than the thresholds say; not before", () => {
    const { marksForSummary } = summarisationMark();
    const marks = (size: Partial<typeof small>): unknown => marksForSummary?.({ ...small, ...size });
    expect(marks({})).toBe(false);
    expect(marks({ messages: 51 })).toBe(true);
    expect(marks({ tokens: 80_001 })).toBe(true);
    expect(marks({ contextUtilization: 0.81 })).toBe(true);
  });

  it("looks at no threshold that is not given, and at none whose measure is unknown", () => {
    const huge = { messages: 1e6, tokens: 1e9, contextUtilization: 1 };
    expect(isOverThreshold({}, huge)).toBe(false);
    expect(isOverThreshold({ maxMessages: 5 }, { ...huge, messages: 5 })).toBe(false);
    expect(isOverThreshold({ maxTokens: 5 }, { ...small, tokens: 5 })).toBe(false);
    expect(isOverThreshold({ maxContextUtilization: 0.1 }, { ...huge, contextUtilization: null as unknown as number })).toBe(false);
  });

  it("is refused with thresholds that are none, by name", () => {
    expect(optionOf(() => summarisationMark({ maxMessages: 0 }))).toBe("maxMessages");
    expect(optionOf(() => summarisationMark({ maxTokens: Number.NaN }))).toBe("maxTokens");
    expect(optionOf(() => summarisationMark({ maxContextUtilization: 80 }))).toBe("maxContextUtilization");
  });
});
