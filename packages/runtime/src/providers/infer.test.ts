import { textMessage } from "@keelson/protocol";
import type { InferEvent, InferRequest, Provider, Usage } from "@keelson/protocol";
import { ModelError, UNKNOWN_USAGE } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldInferEvents, parseCallInput } from "./infer-fold.ts";
import { infer, textOf } from "./infer.ts";

const request: InferRequest = { model: "claude-haiku-4-5", messages: [textMessage("user", "hi")] };
const usage: Usage = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cacheReadTokens: 500_000,
  cacheCreationTokens: 100_000,
  reasoningTokens: null,
};
const end: InferEvent = {
  type: "end",
  stopReason: "end-turn",
  rawStopReason: "end_turn",
  usage,
  model: "claude-haiku-4-5-20251001",
  providerData: { wire: "w", id: "m" },
};

function provider(events: readonly InferEvent[], left: () => void = () => undefined): Provider {
  return {
    name: "p",
    wire: "w",
    async *stream() {
      try {
        yield* events;
      } finally {
        left();
      }
    },
  };
}

describe("infer", () => {
  it("folds the stream into content, calls, stop reason, usage and cost [PV-01, PV-03, EV-01, EV-02]", async () => {
    const response = await infer(
      provider([
        { type: "thinking-start" },
        { type: "thinking-delta", text: "hm" },
        { type: "thinking-end", providerData: { wire: "w", signature: "s" } },
        { type: "text-start" },
        { type: "text-delta", text: "a" },
        { type: "text-delta", text: "b" },
        { type: "text-end" },
        { type: "tool-call-start", index: 0, id: "x", name: "f" },
        { type: "tool-call-start", index: 1, id: "y", name: "g", custom: true },
        { type: "tool-call-delta", index: 1, text: "free " },
        { type: "tool-call-delta", index: 0, text: '{"n"' },
        { type: "tool-call-delta", index: 1, text: "text" },
        { type: "tool-call-delta", index: 0, text: ":1}" },
        { type: "tool-call-end", index: 0, providerData: { wire: "w", id: "x" } },
        { type: "tool-call-end", index: 1 },
        { type: "content", part: { type: "refusal", text: "no" } },
        { type: "rate-limit", rateLimit: { utilization: 1, resetAt: null, allowed: true } },
        { type: "text-start" },
        { type: "text-delta", text: "c" },
        { type: "text-end" },
        { type: "text-start" },
        { type: "text-end" },
        end,
      ]),
      request,
    );
    expect(response).toEqual({
      content: [
        { type: "thinking", text: "hm", providerData: { wire: "w", signature: "s" } },
        { type: "text", text: "ab" },
        { type: "tool-call", id: "x", name: "f", input: { n: 1 }, inputText: '{"n":1}', providerData: { wire: "w", id: "x" } },
        { type: "tool-call", id: "y", name: "g", input: "free text", inputText: "free text", custom: true },
        { type: "refusal", text: "no" },
        { type: "text", text: "c" },
      ],
      toolCalls: [
        { id: "x", name: "f", input: { n: 1 }, inputText: '{"n":1}' },
        { id: "y", name: "g", input: "free text", inputText: "free text" },
      ],
      stopReason: "end-turn",
      rawStopReason: "end_turn",
      usage,
      model: "claude-haiku-4-5-20251001",
      providerData: { wire: "w", id: "m" },
      // 0.4 M fresh at 1, 0.5 M read at 0.1, 0.1 M written at 1.25, 0.1 M out at 5.
      cost: "1.075",
    });
    expect(textOf(response)).toBe("abc");
  });

  it("has no cost for unknown models or counts, and takes prices of the caller's [PV-03]", async () => {
    const priced = (model: string, prices?: Parameters<typeof infer>[2]): ReturnType<typeof infer> =>
      infer(provider([{ ...end, model } as InferEvent]), { ...request, model }, prices);
    expect((await priced("nobody-knows")).cost).toBeNull();
    expect((await priced("nobody-knows", { prices: { "nobody-knows": { asOf: "2026-01-01", input: "2", output: "0" } } })).cost).toBe("2");
    expect((await infer(provider([{ ...end, usage: UNKNOWN_USAGE } as InferEvent]), request)).cost).toBeNull();
  });

  it("refuses a stream without an end, as retryable", async () => {
    const error: unknown = await infer(provider([{ type: "text-delta", text: "x" }]), request).catch((cause: unknown) => cause);
    expect(ModelError.is(error, "server-error") && error.retryable).toBe(true);
  });

  it("leaves a stream that passes maxAnswerBytes", async () => {
    let left = false;
    const error: unknown = await infer(
      provider([{ type: "text-delta", text: "€€€" }, end], () => (left = true)),
      request,
      { maxAnswerBytes: 8 },
    ).catch((cause: unknown) => cause);
    expect([ModelError.is(error, "max-output-tokens"), left]).toEqual([true, true]);
  });
});

describe("a fold", () => {
  it("keeps what came while it comes; an open call has no input", () => {
    const fold = foldInferEvents();
    fold.push({ type: "text-delta", text: "a" });
    fold.push({ type: "tool-call-start", index: 0, id: "x", name: "f" });
    fold.push({ type: "tool-call-delta", index: 0, text: "12" });
    expect([fold.text, fold.content, fold.response(null), fold.end]).toEqual([
      "a",
      [
        { type: "text", text: "a" },
        { type: "tool-call", id: "x", name: "f", inputText: "12" },
      ],
      undefined,
      undefined,
    ]);
    fold.push({ type: "tool-call-end", index: 0 });
    expect(fold.content[1]).toMatchObject({ input: 12 });
  });

  it("reports exactly when the content passes its bound, whatever it is made of, and keeps no more", () => {
    const texts = fc.array(
      fc.tuple(
        fc.constantFrom("text-delta", "thinking-delta", "tool-call-delta") as fc.Arbitrary<
          "text-delta" | "thinking-delta" | "tool-call-delta"
        >,
        fc.string({ unit: "grapheme", maxLength: 6 }),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 120 }), (pieces, maxAnswerBytes) => {
        const fold = foldInferEvents({ maxAnswerBytes });
        fold.push({ type: "tool-call-start", index: 0, id: "i", name: "n" });
        let bytes = 2;
        for (const [type, text] of pieces) {
          fold.push(type === "tool-call-delta" ? { type, index: 0, text } : { type, text });
          bytes += Buffer.byteLength(text);
          expect(fold.overflowed).toBe(bytes > maxAnswerBytes);
          if (fold.overflowed) break;
          expect(fold.bytes).toBe(bytes);
        }
        expect(fold.bytes).toBeLessThanOrEqual(maxAnswerBytes);
      }),
    );
  });

  it("counts a call's id and name where its bound is passed between them", () => {
    const fold = foldInferEvents({ maxAnswerBytes: 4 });
    fold.push({ type: "tool-call-start", index: 0, id: "i", name: "n" });
    expect(fold.bytes).toBe(2);
    fold.push({ type: "text-delta", text: "\u0800" });
    expect(fold.overflowed).toBe(true);
  });

  it("joins any number of pieces in order", () => {
    const fold = foldInferEvents();
    const pieces = Array.from({ length: 5000 }, (_, at) => `${at},`);
    for (const [at, text] of pieces.entries()) {
      fold.push({ type: "text-delta", text });
      if (at % 700 === 0) expect(fold.text).toBe(pieces.slice(0, at + 1).join(""));
    }
    expect(fold.text).toBe(pieces.join(""));
  });
});

it("reads nothing and null as no arguments, and leaves what does not parse", () => {
  expect([
    parseCallInput(""),
    parseCallInput(" \n"),
    parseCallInput("null"),
    parseCallInput("[1]"),
    parseCallInput('{}{"a":1}'),
    parseCallInput('{"a'),
  ]).toEqual([{}, {}, {}, [1], undefined, undefined]);
});
