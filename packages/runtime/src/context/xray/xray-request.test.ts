import { addUsd, type InferRequest, type Message, textMessage, usd, type Usage, ZERO_USD } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { message } from "../../../../protocol/test/payload-arbitraries/content.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import { Context } from "../context.ts";
import { memoryMessage } from "../memory-message.ts";
import { type Xray, xrayRequest } from "./xray-request.ts";

const price: ModelPrice = {
  input: "3",
  output: "15",
  cacheRead: "0.3",
  cacheWrite: "3.75",
  asOf: "2026-01-01",
  longPrompt: { aboveInputTokens: 2000, input: "6", output: "22.5" },
};
const usageOf = (inputTokens: number, cacheReadTokens: number | null = null, cacheCreationTokens: number | null = null): Usage => ({
  inputTokens,
  outputTokens: 7,
  cacheReadTokens,
  cacheCreationTokens,
  reasoningTokens: null,
});
const request: fc.Arbitrary<InferRequest> = fc.record(
  {
    model: fc.constant("m"),
    messages: fc.array(message, { maxLength: 5 }),
    system: fc.string(),
    tools: fc.array(fc.record({ name: fc.string(), description: fc.string(), inputSchema: fc.constant({ type: "object" }) }), {
      maxLength: 3,
    }),
    output: fc.record({ name: fc.string(), schema: fc.constant({ type: "object" }) }),
  },
  { requiredKeys: ["model", "messages"] },
);
const usage: fc.Arbitrary<Usage | undefined> = fc.option(
  fc.tuple(fc.nat(5000), fc.option(fc.nat(5000)), fc.option(fc.nat(5000))).map(([input, read, write]) => usageOf(input, read, write)),
  { nil: undefined },
);
const target = fc.record({
  wire: fc.constantFrom("openai-chat", "anthropic-messages", "gemini"),
  model: fc.constantFrom("openai/gpt-4o", "anthropic/claude-sonnet-5", "someone/else"),
});

describe("an x-ray", () => {
  it("has parts that add up to exactly its tokens, its cached tokens and its cost, for every request, model and report", async () => {
    await fc.assert(
      fc.asyncProperty(request, target, usage, async (given, to, told) => {
        const { parts, tokens, cost, cachedTokens, reported } = await xrayRequest(given, { target: to, price, usage: told });
        expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(tokens);
        expect(parts.every((part) => Number.isSafeInteger(part.tokens) && part.tokens > 0)).toBe(true);
        expect(parts.reduce((sum, part) => addUsd(sum, part.cost ?? usd("1000000")), ZERO_USD)).toBe(cost);
        expect(reported).toBe(told !== undefined);
        if (told !== undefined) expect(tokens).toBe(told.inputTokens);
        if (cachedTokens === null) expect(parts.every((part) => part.cachedTokens === null)).toBe(true);
        else expect(parts.reduce((sum, part) => sum + (part.cachedTokens ?? -1), 0)).toBe(cachedTokens);
      }),
    );
  });

  const call: Message = {
    role: "assistant",
    content: [{ type: "tool-call", id: "c1" as never, name: "read_file", inputText: `{"path":"a.ts"}`, input: { path: "a.ts" } }],
  };
  const result: Message = {
    role: "tool",
    content: [{ type: "tool-result", id: "c1" as never, name: "read_file", output: "const a = 1;\n".repeat(20) }],
  };
  const whole: InferRequest = {
    model: "claude-sonnet-5",
    system: "You are careful.",
    tools: [{ name: "read_file", description: "Reads", inputSchema: { type: "object" } }],
    messages: [
      memoryMessage("facts about the user", ["Ada bakes"]),
      { ...textMessage("user", "what was before"), summary: true },
      textMessage("user", "Look at it"),
      call,
      result,
    ],
  };
  const claude = { wire: "anthropic-messages", model: "anthropic/claude-sonnet-5" };
  const sources = ({ parts }: Xray): readonly string[] => parts.map(({ source, name }) => `${source}: ${name}`);

  it("names the source of each part, what the vendor adds among them", async () => {
    const shown = await xrayRequest(whole, { target: claude, usage: usageOf(2000), filesOf: () => ["a.ts"] });
    expect(sources(shown)).toEqual([
      "vendor: added by the vendor",
      "tools: read_file",
      "system: system prompt",
      "memory: facts about the user",
      "summary: summary of earlier messages",
      "message: user",
      "message: call of read_file",
      "file: a.ts",
    ]);
    expect(shown.parts[0]?.tokens).toBeGreaterThan(1500);
    expect(sources(await xrayRequest(whole, { target: claude }))).toContain("message: result of read_file");
  });

  it("tells the files in the system prompt from its own text, in their order", async () => {
    const own = "You are careful. ";
    const [first, second] = ["Use tabs. ".repeat(40), "Use spaces. ".repeat(10)];
    const system = `${own}${first}${own}${second}`;
    const at = own.length + first.length;
    const systemFiles = () => [
      { path: "/b", from: at + own.length, upTo: system.length },
      { path: "/a", from: own.length, upTo: at },
      // These are no stretches of it, or of another file's.
      { path: "/c", from: own.length + 1, upTo: at },
      { path: "/d", from: 0, upTo: 0 },
      { path: "/e", from: at, upTo: system.length + 1 },
    ];
    const apart = await xrayRequest({ ...whole, system }, { target: claude, usage: usageOf(2000, 1900, 0), systemFiles });
    const together = await xrayRequest({ ...whole, system }, { target: claude, usage: usageOf(2000, 1900, 0) });
    expect(sources(apart).slice(2, 6)).toEqual(["system: system prompt", "file: /a", "system: system prompt", "file: /b"]);
    expect(sources(apart).slice(6)).toEqual(sources(together).slice(3));
    const tokens = apart.parts.slice(2, 6).map((part) => part.tokens);
    expect(tokens.reduce((sum, each) => sum + each)).toBe(together.parts[2]?.tokens);
    expect(tokens[1]).toBeGreaterThan(2 * (tokens[3] as number));
    expect(apart).toMatchObject({ tokens: 2000, cachedTokens: 1900, cost: together.cost });
    const onlyFile = await xrayRequest(
      { ...whole, system },
      { target: claude, systemFiles: () => [{ path: "/f", from: 0, upTo: system.length }] },
    );
    expect(sources(onlyFile)).not.toContain("system: system prompt");
  });

  it("tells what was cached from the beginning on, and what each part costs by that", async () => {
    const { parts, cost } = await xrayRequest(whole, { target: claude, price, usage: usageOf(2000, 1900, 0) });
    expect(parts.map(({ cachedTokens }) => cachedTokens)).toEqual(
      parts.map(({ tokens }, at) => {
        const before = parts.slice(0, at).reduce((sum, part) => sum + part.tokens, 0);
        return Math.max(0, Math.min(tokens, 1900 - before));
      }),
    );
    expect(cost).toBe("0.00087");
    // All of a long prompt is dearer.
    expect((await xrayRequest(whole, { target: claude, price, usage: usageOf(2001) })).cost).toBe("0.012006");
    expect((await xrayRequest(whole, { target: claude, price: null })).cost).toBeNull();
  });

  it("makes parts smaller where the vendor counted less than was estimated", async () => {
    const shown = await xrayRequest(whole, { target: claude, usage: usageOf(20) });
    expect(shown.tokens).toBe(20);
    expect(sources(shown)).not.toContain("vendor: added by the vendor");
  });
});

describe("a context that is bound to no run", () => {
  it("says that it must be told of the model, and x-rays what it is given", async () => {
    const context = new Context();
    await expect(context.xray()).rejects.toThrow(/bound to no run/);
    const messages = [textMessage("user", "Hello, world!")];
    const planned = { request: { model: "gpt-4o", messages }, target: { wire: "openai-chat", model: "openai/gpt-4o" }, price };
    expect(await context.xray("next", planned)).toMatchObject({ tokens: 11, exact: true, reported: false });
  });
});
