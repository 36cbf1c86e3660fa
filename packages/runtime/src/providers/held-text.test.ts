import { ModelError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { AnthropicDecoder } from "./anthropic/anthropic-decoder.ts";
import { GeminiDecoder } from "./gemini/gemini-decoder.ts";
import { InferFold } from "./infer-fold.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { ResponsesDecoder } from "./openai-responses/responses-decoder.ts";
import type { DecodedEvent } from "./polled-events.ts";
import type { DecoderContext, WireDecoder } from "./wire-decoder.ts";

const context: DecoderContext = { wire: "w", provider: "p", model: "m" };
const piece = "x".repeat(64 * 1024);
/** Four times what a response may hold. */
const PIECES = 1024;

/** What a decoder is sent first, and then again and again, without it giving anything. */
const unfinished: {
  readonly [what: string]: readonly [make: (queue: DecodedEvent[]) => WireDecoder, first: object, again: (n: number) => object];
} = {
  "arguments of a call without a name, over Chat Completions": [
    (queue) => new ChatDecoder(queue, context),
    { choices: [] },
    () => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }] }),
  ],
  "calls without a name, over Chat Completions": [
    (queue) => new ChatDecoder(queue, context),
    { choices: [] },
    (n) => ({
      choices: [{ index: 0, delta: { tool_calls: Array.from({ length: 100 }, (_, at) => ({ index: 100 * n + at, function: {} })) } }],
    }),
  ],
  "input of a call without a name, over Responses": [
    (queue) => new ResponsesDecoder(queue, context),
    { type: "response.output_item.added", output_index: 0, item: { type: "function_call" } },
    () => ({ type: "response.function_call_arguments.delta", output_index: 0, delta: piece }),
  ],
  "a block that the vendor runs, over Messages": [
    (queue) => new AnthropicDecoder(queue, context),
    { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", name: "search", input: {} } },
    () => ({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: piece } }),
  ],
  "a call of a program, over Messages": [
    (queue) => new AnthropicDecoder(queue, context),
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "look", caller: { type: "code" } } },
    () => ({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: piece } }),
  ],
  "arguments that come value by value, over Gemini": [
    (queue) => new GeminiDecoder(queue, context),
    { candidates: [{ content: { parts: [{ functionCall: { name: "look", willContinue: true } }] } }] },
    () => ({
      candidates: [
        { content: { parts: [{ functionCall: { partialArgs: [{ jsonPath: "$.a", stringValue: piece }], willContinue: true } }] } },
      ],
    }),
  ],
};

describe("what a decoder holds of calls that are never finished is bounded", () => {
  it.each(Object.keys(unfinished))("%s", (what) => {
    const [make, first, again] = unfinished[what] as (typeof unfinished)[string];
    const decoder = make([]);
    const send = (event: object): void => {
      const text = JSON.stringify(event);
      decoder.event(text, 0, text.length, -1);
    };
    send(first);
    let sent = 0;
    const sendAll = (): void => {
      for (; sent < PIECES; sent++) send(again(sent));
    };
    expect(sendAll).toThrow(ModelError);
    expect(sendAll).toThrow(/never finished/);
    expect(sent).toBeGreaterThan(16);
    expect(sent).toBeLessThan(PIECES);
  });
});

describe("the calls of a response are bounded", () => {
  const started = (index: number) => ({ type: "tool-call-start", index, id: `c${index}`, name: "look" }) as const;
  const asking = (fold: InferFold, count: number): InferFold => {
    for (let index = 0; index < count; index++) {
      fold.push(started(index));
      fold.push({ type: "tool-call-end", index });
    }
    return fold;
  };

  it("to 128, or to what was said: the first that passes it is dropped, with all behind it", () => {
    expect(asking(new InferFold(), 128)).toMatchObject({ overflowed: false, content: { length: 128 } });
    expect(asking(new InferFold(), 5000)).toMatchObject({ overflowed: true, content: { length: 128 } });
    expect(asking(new InferFold({ maxAnswerCalls: 2 }), 3)).toMatchObject({ overflowed: true, content: { length: 2 } });
    const fold = asking(new InferFold({ maxAnswerCalls: 1 }), 2);
    fold.push({ type: "tool-call-delta", index: 1, text: "x" });
    fold.push({ type: "text-delta", text: "more" });
    expect(fold.content).toHaveLength(1);
  });

  it("and segments that stay empty are not kept, however many there are", () => {
    const fold = new InferFold({ maxAnswerBytes: 100 });
    const before = process.memoryUsage().heapUsed;
    const [start, end] = [{ type: "text-start" }, { type: "text-end" }] as const;
    for (let n = 0; n < 3_000_000; n++) {
      fold.push(start);
      fold.push(end);
    }
    fold.push({ type: "text-delta", text: "so" });
    expect(fold.content).toEqual([{ type: "text", text: "so" }]);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150_000_000);
  });
});
