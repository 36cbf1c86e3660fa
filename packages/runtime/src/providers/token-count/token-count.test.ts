import type { InferRequest, Message } from "@keelson/protocol";
import { textMessage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { message } from "../../../../protocol/test/payload-arbitraries/content.ts";
import { calibrateTokens } from "../token-calibration.ts";
import { loadTokenizer } from "../tokenizer.ts";
import { apportion } from "./apportion.ts";
import { createTokenCounter } from "./create-token-counter.ts";
import { learnHiddenTokens, type Observation, originOf } from "./hidden-tokens.ts";
import { modelLine } from "./model-line.ts";
import { toolDeclaration } from "./tool-declaration.ts";

const target = { wire: "openai-chat", model: "openai/gpt-4o" };
const usage = (inputTokens: number) => ({
  inputTokens,
  outputTokens: 1,
  cacheReadTokens: null,
  cacheCreationTokens: null,
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
  },
  { requiredKeys: ["model", "messages"] },
);

describe("the count of a request", () => {
  it("is the sum of its pieces, exactly, for every request, model and report", async () => {
    await fc.assert(
      fc.asyncProperty(request, fc.constantFrom("openai/gpt-4o", "anthropic/claude-sonnet-5"), fc.nat(5000), async (given, model, told) => {
        const counter = createTokenCounter();
        const to = { wire: "openai-chat", model };
        if (told > 0) counter.report({ ...given, messages: given.messages.slice(0, 1) }, to, usage(told));
        const { tokens, pieces } = await counter.count(given, to);
        expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(tokens);
        expect(pieces.every((piece) => Number.isSafeInteger(piece.tokens) && piece.tokens >= 0)).toBe(true);
      }),
    );
  });

  it("is that of the vendor where the model's tokenizer is here", async () => {
    const messages = [textMessage("system", "You are a helpful assistant."), textMessage("user", "Hello, world!")];
    // As the vendor counted it: three for each message, one for its role, three for the response.
    expect(await createTokenCounter().count({ model: "gpt-4o", messages }, target)).toMatchObject({ tokens: 21, exact: true, margin: 0 });
  });

  it("is an estimate where there is none, or its package isn't installed", async () => {
    const messages = [textMessage("user", "Hello, world!")];
    const claude = { wire: "anthropic-messages", model: "anthropic/claude-sonnet-5" };
    expect(await createTokenCounter().count({ model: "claude-sonnet-5", messages }, claude)).toMatchObject({ exact: false });
    const without = createTokenCounter({ loadTokenizer: async () => undefined });
    expect(await without.count({ model: "gpt-4o", messages }, target)).toMatchObject({ exact: false });
  });

  it("tells what the vendor adds, once something was reported of a like request", async () => {
    const counter = createTokenCounter({ calibration: calibrateTokens(), loadTokenizer: async () => undefined });
    const messages: Message[] = [textMessage("user", "one two three four five six seven")];
    counter.report({ model: "m", messages }, { wire: "w", model: "v/m" }, usage(1014));
    const { tokens, pieces } = await counter.count({ model: "m", messages }, { wire: "w", model: "v/m" });
    expect(tokens).toBe(1014);
    const added = pieces.find(({ place }) => place.type === "vendor")?.tokens ?? 0;
    expect(added).toBeGreaterThan(990);
  });

  it("takes no more than a moment for a word without end", async () => {
    const tokenizer = await loadTokenizer("gpt-4o");
    const word = "a".repeat(200_000);
    expect(Math.abs((tokenizer?.count(word) ?? 0) - 25_000)).toBeLessThan(500);
  });
});

describe("whole shares", () => {
  it("add up to the total, and are less than one off", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), fc.nat(1_000_000), (amounts, total) => {
        const shares = apportion(amounts, total);
        expect(shares.reduce((a, b) => a + b, 0)).toBe(total);
        const sum = amounts.reduce((a, b) => a + b, 0);
        if (sum > 0)
          for (const [at, share] of shares.entries()) expect(Math.abs(share - ((amounts[at] as number) / sum) * total)).toBeLessThan(1.001);
      }),
    );
  });
});

describe("what vendors add", () => {
  const observed = (model: string, visible: number, counted: number, tools = true): Observation => ({
    origin: originOf({ wire: "w", model }, { tools, output: false }),
    visible,
    counted,
  });

  it("is learnt from the same model, else from others of its line, and with tools apart from without", () => {
    const expected = learnHiddenTokens([
      ...Array.from({ length: 8 }, (_, at) => observed("a/claude-one", 100 + at, 600 + at)),
      ...Array.from({ length: 8 }, (_, at) => observed("a/claude-one", 100 + at, 110 + at, false)),
    ]);
    const hidden = (model: string, tools: boolean) => expected(originOf({ wire: "w", model }, { tools, output: false })).hidden;
    expect(Math.abs(hidden("a/claude-one", true) - 500)).toBeLessThan(10);
    expect(Math.abs(hidden("b/claude-two", true) - 500)).toBeLessThan(60);
    expect(hidden("a/claude-one", false)).toBeLessThan(20);
  });

  it("is told apart from how many tokens the vendor makes of a text", () => {
    const expected = learnHiddenTokens(Array.from({ length: 12 }, (_, at) => observed("a/claude-one", 1000 * at, 500 + 1300 * at)));
    const { ratio, hidden } = expected(originOf({ wire: "w", model: "a/claude-one" }, { tools: true, output: false }));
    expect(ratio).toBeCloseTo(1.3);
    expect(hidden).toBeCloseTo(500, -1);
  });

  it("is nothing where nothing was reported", () => {
    expect(learnHiddenTokens([])(originOf(target, { tools: false, output: false }))).toEqual({ ratio: 1, hidden: 0 });
  });

  it.each([
    ["anthropic/claude-sonnet-4-5", "claude"],
    ["openrouter/mistralai/devstral-small-2505", "mistral"],
    ["groq/openai/gpt-oss-20b", "gpt-oss"],
    ["o3-mini", "o3"],
    ["someone/their-own", "their-own"],
  ])("to %s is what it is to others of the line %s", (model, line) => {
    expect(modelLine(model)).toBe(line);
  });
});

describe("a tool as models of OpenAI see it", () => {
  it("is a type with comments", () => {
    const inputSchema = {
      type: "object",
      properties: {
        city: { type: "string", description: "Where" },
        unit: { enum: ["c", "f"], default: "c" },
        days: { type: "array", items: { type: ["integer", "null"] } },
        at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
        any: { anyOf: [{ type: "boolean" }, {}] },
      },
      required: ["city"],
    };
    expect(toolDeclaration({ name: "weather", description: "The weather", inputSchema })).toBe(
      [
        "// The weather",
        "type weather = (_: {",
        "// Where",
        "city: string,",
        `unit?: "c" | "f", // default: c`,
        "days?: number | null[],",
        "at?: {\nx: number,\n},",
        "any?: boolean | any,",
        "}) => any;\n\n",
      ].join("\n"),
    );
    expect(toolDeclaration({ name: "now", description: "", inputSchema: {} })).toBe("type now = () => any;\n\n");
  });
});
