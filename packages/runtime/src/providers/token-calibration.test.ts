import { type Content, type InferRequest, type Message, textMessage, type Usage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approximateTokens } from "./approximate-tokens.ts";
import { inputTokenBound, messageTokenBound } from "./token-bound.ts";
import { calibrateTokens } from "./token-calibration.ts";
import { loadTokenizer } from "./tokenizer.ts";

const target = { wire: "openai-chat", model: "openai/gpt-5" };
const usage = (inputTokens: number, outputTokens = 10): Usage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: null,
  cacheCreationTokens: null,
  reasoningTokens: null,
});
const prose = (words: number): string =>
  Array.from({ length: words }, (_, at) => ["the", "quick", "brown", "fox", "jumps"][at % 5]).join(" ");

describe("an estimate of tokens", () => {
  it("is a guess at first, and says so", () => {
    const { tokens, calibrated, margin } = calibrateTokens().estimate(
      { model: "gpt-5", messages: [textMessage("user", prose(100))] },
      target,
    );
    expect(tokens).toBeGreaterThan(90);
    expect(tokens).toBeLessThan(130);
    expect(margin).toBeGreaterThan(50);
    expect(calibrated).toBe(false);
  });

  it("goes on from the last report of the conversation, hidden prompt and tools included", () => {
    const calibration = calibrateTokens();
    const tools = [{ name: "look", description: "Looks", inputSchema: { type: "object" } }];
    const messages: Message[] = [textMessage("user", prose(300))];
    const request: InferRequest = { model: "gpt-5", messages, tools };
    calibration.report({ ...request, messages: [...messages] }, target, usage(4321, 20));
    messages.push(textMessage("assistant", prose(20)), textMessage("user", prose(100)));
    const { tokens, calibrated } = calibration.estimate(request, target);
    expect(calibrated).toBe(true);
    expect(Math.abs(tokens - (4321 + 20 + 100))).toBeLessThan(20);
    // Another model, or other tools: nothing is known.
    expect(calibration.estimate(request, { ...target, model: "openai/other" }).calibrated).toBe(false);
    expect(calibration.estimate({ ...request, tools: [] }, target).calibrated).toBe(false);
  });

  it("learns how many tokens the vendor makes of a text, and is not spoiled by one report", () => {
    const calibration = calibrateTokens();
    const messages: Message[] = [textMessage("user", "begin")];
    let counted = 50;
    for (let turn = 0; turn < 40; turn += 1) {
      calibration.report({ model: "gpt-5", messages: [...messages] }, target, usage(counted, 0));
      messages.push(textMessage("user", prose(100)));
      // Twice as many as others, but for one turn in which something else was added.
      counted += turn === 20 ? 5000 : 204;
    }
    calibration.report({ model: "gpt-5", messages: [...messages] }, target, usage(counted, 0));
    messages.push(textMessage("user", prose(400)));
    expect(calibration.estimate({ model: "gpt-5", messages }, target).tokens - counted).toBeGreaterThan(650);
    expect(calibration.estimate({ model: "gpt-5", messages }, target).tokens - counted).toBeLessThan(850);
  });

  it("is sure of nothing where the vendor adds what nobody sees, and learns nothing from it", () => {
    const calibration = calibrateTokens();
    const searching: InferRequest = { model: "gpt-5", messages: [textMessage("user", "hi")], extra: { tools: [{ type: "web_search" }] } };
    calibration.report(searching, target, usage(9000));
    expect(calibration.estimate(searching, target)).toMatchObject({ calibrated: false });
    expect(calibration.estimate({ model: "gpt-5", messages: searching.messages }, target).tokens).toBeLessThan(50);
  });

  it("is sure of nothing where an image, a file or a thought is new", () => {
    const calibration = calibrateTokens();
    const messages: Message[] = [textMessage("user", prose(200))];
    calibration.report({ model: "gpt-5", messages: [...messages] }, target, usage(260));
    const shown: Message = { role: "user", content: [{ type: "image", mediaType: "image/png", data: "QQ==" }] };
    expect(calibration.estimate({ model: "gpt-5", messages: [...messages, shown] }, target).calibrated).toBe(false);
  });

  it("keeps a bounded number of reports", () => {
    const calibration = calibrateTokens({ maxReports: 2 });
    const first: Message[] = [textMessage("user", "one")];
    calibration.report({ model: "gpt-5", system: "a", messages: first }, target, usage(1000));
    for (const system of ["b", "c"])
      calibration.report({ model: "gpt-5", system, messages: [textMessage("user", "x")] }, target, usage(10));
    expect(calibration.estimate({ model: "gpt-5", system: "a", messages: first }, target).calibrated).toBe(false);
  });
});

describe("tokens of a text, approximately", () => {
  it.each([
    ["Hello world, this is a test of the tokenizer.", 10],
    [`{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}`, 20],
    ["日本語のテキストです。", 8],
    ["const value = computeSomethingUseful(first, second);", 11],
    ["", 0],
  ])("of %j are about %i", (text, tokens) => {
    expect(Math.abs(approximateTokens(text) - tokens)).toBeLessThanOrEqual(Math.max(1, 0.25 * tokens));
  });

  it("grow with long texts without reading all of them", () => {
    const text = prose(100_000);
    expect(Math.abs(approximateTokens(text) / 100_000 - 1)).toBeLessThan(0.05);
  });

  it("are never more than the bound of the message", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(approximateTokens(text)).toBeLessThanOrEqual(messageTokenBound(textMessage("user", text)));
      }),
    );
  });
});

describe("an upper bound", () => {
  const content: fc.Arbitrary<Content> = fc.oneof(
    fc.string().map((text): Content => ({ type: "text", text })),
    fc.constant<Content>({ type: "image", mediaType: "image/png", data: "QQ==" }),
    fc.json().map((inputText): Content => ({ type: "tool-call", id: "c" as never, name: "look", inputText })),
    fc.jsonValue().map((output): Content => ({ type: "tool-result", id: "c" as never, name: "look", output: output as never })),
  );
  const messages = fc.array(
    content.map((part): Message => ({ role: "user", content: [part] })),
    { maxLength: 8 },
  );

  it("is that of its messages and no less than their bytes, and grows with each", () => {
    fc.assert(
      fc.property(messages, (given) => {
        const bound = inputTokenBound({ model: "m", messages: given }, { wire: "none", model: "m" });
        expect(bound).toBe(given.reduce((sum, message) => sum + messageTokenBound(message), 0));
        const text = given
          .flatMap(({ content: parts }) => parts)
          .reduce((sum, part) => sum + (part.type === "text" ? Buffer.byteLength(part.text) : 0), 0);
        expect(bound).toBeGreaterThanOrEqual(text);
      }),
    );
  });

  it("allows for the dearest images there are, and for files that may fill the window", () => {
    const shown: Message = { role: "user", content: [{ type: "image", mediaType: "image/png", data: "QQ==" }] };
    expect(inputTokenBound({ model: "gpt-4o-mini", messages: [shown] }, { wire: "openai-chat", model: "gpt-4o-mini" })).toBeGreaterThan(
      48_169,
    );
    const file: Message = { role: "user", content: [{ type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" }] };
    const target = { wire: "anthropic-messages", model: "m", contextWindow: 200_000 };
    expect(inputTokenBound({ model: "m", messages: [file] }, target)).toBe(220_000);
    const searching = { model: "m", messages: [], extra: { tools: [{ type: "web_search_20250305", name: "web_search" }] } };
    expect(inputTokenBound(searching, target)).toBeGreaterThan(200_000);
  });
});

describe("an exact tokenizer", () => {
  const importModule = async (specifier: string): Promise<unknown> => ({
    countTokens: (text: string, options: { disallowedSpecial?: Set<string> }) =>
      options.disallowedSpecial?.size === 0 ? specifier.length + text.length : -1,
  });

  it("is loaded for the models of those who published one", async () => {
    const names = await Promise.all(
      ["gpt-5-mini", "openai/gpt-4o-2024-08-06", "gpt-4.1", "o3", "gpt-4-0613", "gpt-3.5-turbo", "groq/openai/gpt-oss-20b"].map(
        async (model) => (await loadTokenizer(model, { importModule }))?.name,
      ),
    );
    expect(names).toEqual(["o200k_base", "o200k_base", "o200k_base", "o200k_base", "cl100k_base", "cl100k_base", "o200k_harmony"]);
    expect((await loadTokenizer("gpt-5", { importModule }))?.count("abc")).toBe("gpt-tokenizer/encoding/o200k_base".length + 3);
    for (const model of ["claude-sonnet-5", "gemini-3-pro", "qwen3"]) expect(await loadTokenizer(model, { importModule })).toBeUndefined();
  });

  it("says what to install where it is not", async () => {
    const missing = { importModule: async (): Promise<unknown> => Promise.reject(new Error("Cannot find package")) };
    await expect(loadTokenizer("gpt-5", missing)).rejects.toThrow(/npm install gpt-tokenizer/);
    await expect(loadTokenizer("gpt-5", { importModule: async () => ({}) })).rejects.toThrow(/version 4 or later/);
  });
});
