import fc from "fast-check";
import type { InferEvent } from "@keelson/protocol";
import { expect, it } from "vitest";
import { SseReader } from "../transport/index.ts";
import { AnthropicDecoder } from "./anthropic/anthropic-decoder.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { ResponsesDecoder } from "./openai-responses/responses-decoder.ts";
import type { DecodedEvent } from "./polled-events.ts";
import type { WireDecoder } from "./wire-decoder.ts";

const context = { wire: "w", provider: "p", model: "m" };

interface Decoded {
  readonly events: readonly InferEvent[];
  readonly error: string | undefined;
  readonly skimmed: number;
}

function decode(make: (queue: DecodedEvent[]) => WireDecoder, text: string, skimming: boolean, chunk: number): Decoded {
  const queue: DecodedEvent[] = [];
  const decoder = make(queue);
  const singly = (event: DecodedEvent): readonly InferEvent[] =>
    event.type === "text-run" ? event.texts.map((one) => ({ type: "text-delta", text: one })) : [event];
  let skimmed = 0;
  const reader = new SseReader({
    event: (...event) => {
      if (!decoder.complete) decoder.event(...event);
    },
    skim(input, at) {
      if (!skimming || decoder.complete) return at;
      const to = decoder.skim(input, at);
      skimmed += to - at;
      return to;
    },
  });
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk));
    reader.end();
    decoder.finish();
    return { events: queue.flatMap(singly), error: undefined, skimmed };
  } catch (error) {
    return { events: queue.flatMap(singly), error: String(error), skimmed };
  }
}

/** JSON strings in every spelling a server may choose, and some that no server may. */
const piece = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '""',
    '"\\u00e4\\ud83d"',
    '"\\"}]}"',
    '"a\\\\"',
    '"\\/"',
    '"}',
    '"\t"',
    "null",
    "5",
    '"\\x"',
    '"content\\":\\"b"',
    '"[DONE]"',
  ),
);

const chatEvent = fc
  .record({ content: piece, pad: fc.constantFrom("", "", "abc", "x1", '\\"', " "), shape: fc.integer({ min: 0, max: 14 }) })
  .map(({ content, pad, shape }) => {
    const delta = `"delta":{"content":${content}}`;
    const wrap = (choice: string, rest = ""): string =>
      `data: {"id":"c","object":"chat.completion.chunk","model":"m1","choices":[{"index":0,${choice},"logprobs":null,"finish_reason":null}]${rest}}\n\n`;
    switch (shape) {
      case 0:
        return wrap('"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{"}}]}');
      case 1:
        return wrap(`"delta":{"reasoning_content":${content}}`);
      case 2:
        return wrap(`"delta":{"content":${content},"refusal":"no"}`);
      case 3:
        return wrap(delta, `,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`);
      case 4:
        return `data: {"choices":[{"index":1,${delta}},{"index":0,"delta":{"content":"first"}}]}\n\n`;
      case 5:
        return `data: {"content":"outside","choices":[{"index":0,"delta":{"content":${content},"content":"last"}}]}\n\n`;
      case 6:
        return `: comment\n\n${wrap(delta)}`;
      case 7:
        return `event: x\ndata: {"choices":[\ndata: {"index":0,${delta}}]}\n\n`;
      case 8:
        return wrap(`"delta":{"content":${content},"reasoning":"why"}`);
      case 9:
      case 10:
        return wrap(delta, `,"obfuscation":"${pad}"`);
      default:
        return wrap(delta);
    }
  });

const anthropicEvent = fc
  .record({ text: piece, spaces: fc.nat(4), index: fc.nat(1), shape: fc.integer({ min: 0, max: 14 }) })
  .map(({ text, spaces, index, shape }) => {
    const event = (type: string, rest: string): string => `event: ${type}\ndata: {"type":"${type}",${rest}${" ".repeat(spaces)}}\n\n`;
    switch (shape) {
      case 0:
        return event("content_block_stop", `"index":${index}`);
      case 1:
        return event("content_block_start", `"index":${index},"content_block":{"type":"text","text":""}`);
      case 2:
        return event("content_block_start", `"index":${index},"content_block":{"type":"thinking","thinking":"","signature":""}`);
      case 3:
        return event("content_block_start", `"index":${index},"content_block":{"type":"tool_use","id":"t","name":"text","input":{}}`);
      case 4:
        return event("content_block_delta", `"index":${index},"delta":{"type":"thinking_delta","thinking":${text}}`);
      case 5:
        return event("content_block_delta", `"index":${index},"delta":{"type":"input_json_delta","partial_json":"\\"text\\":\\""}`);
      case 6:
        return event(
          "content_block_start",
          `"index":${index},"content_block":{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"type":"code","text":"x"}}`,
        );
      case 7:
        return event("ping", `"text":"x"`);
      default:
        return event("content_block_delta", `"index":${index},"delta":{"type":"text_delta","text":${text}}`);
    }
  });

const counter = fc.oneof(
  { weight: 9, arbitrary: fc.nat(1200).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("01", "-4", "1.5", "2e3", '"8"', "") },
);
const responsesEvent = fc
  .record({
    delta: piece,
    pad: fc.constantFrom("", "abc", "x1", '\\"', " "),
    at: counter,
    index: fc.nat(1),
    shape: fc.integer({ min: 0, max: 24 }),
  })
  .map(({ delta, pad, at, index, shape }) => {
    const number = at === "" ? "" : `"sequence_number":${at},`;
    const event = (type: string, rest: string): string => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`;
    switch (shape) {
      case 0:
        return event("response.output_item.added", `${number}"output_index":${index},"item":{"type":"message","id":"m","content":[]}`);
      case 1:
        return event(
          "response.output_item.added",
          `${number}"output_index":${index},"item":{"type":"function_call","call_id":"c","name":"f"}`,
        );
      case 2:
        return event("response.reasoning_summary_text.delta", `${number}"output_index":${index},"summary_index":0,"delta":${delta}`);
      case 3:
        return event("response.refusal.delta", `${number}"output_index":${index},"content_index":0,"delta":${delta}`);
      case 4:
        return event(
          "response.content_part.done",
          `"output_index":${index},"content_index":0,"part":{"type":"output_text","text":${delta}}`,
        );
      case 5:
        return event("response.function_call_arguments.delta", `"output_index":${index},"delta":${delta}`);
      case 6:
        return event("response.output_text.delta", `"inner":{"sequence_number":1},"output_index":${index},"delta":${delta}`);
      case 7:
      case 8:
        // The counter behind the text, as servers in Python and Rust have it; at the very end too.
        return event(
          "response.output_text.delta",
          `"output_index":0,"content_index":0,"delta":${delta},"logprobs":[]${at === "" ? "" : `,"sequence_number":${at}`}`,
        );
      case 9:
        return event(
          "response.output_text.delta",
          `"output_index":0,"content_index":0,"delta":${delta},"sequence_number":${at || 3},"item_id":"m"`,
        );
      default:
        return event(
          "response.output_text.delta",
          `${number}"output_index":0,"content_index":0,"delta":${delta},"logprobs":[],"obfuscation":"${pad}"`,
        );
    }
  });

it.each([
  [
    "Responses",
    (queue: DecodedEvent[]) => new ResponsesDecoder(queue, context),
    responsesEvent,
    'data: {"type":"response.created","response":{"id":"r","model":"m"}}\n\n',
    'data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}\n\n',
  ],
  [
    "chat",
    (queue: DecodedEvent[]) => new ChatDecoder(queue, context),
    chatEvent,
    "",
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  ],
  [
    "Anthropic",
    (queue: DecodedEvent[]) => new AnthropicDecoder(queue, context),
    anthropicEvent,
    'data: {"type":"message_start","message":{"id":"i","model":"m"}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
  ],
] as const)("reads the same events from a %s stream as parsing every event does", (_name, make, event, head, tail) => {
  let skimmed = 0;
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 24 }),
      fc.constantFrom("\n", "\r\n"),
      fc.integer({ min: 1, max: 700 }),
      (events, lineEnd, chunk) => {
        const text = (head + events.join("") + tail).replaceAll("\n", lineEnd);
        const fast = decode(make, text, true, chunk);
        const slow = decode(make, text, false, chunk);
        skimmed += fast.skimmed;
        expect({ events: fast.events, error: fast.error }).toEqual({ events: slow.events, error: slow.error });
      },
    ),
    { numRuns: 1500 },
  );
  // The law is about something.
  expect(skimmed).toBeGreaterThan(10_000);
});
