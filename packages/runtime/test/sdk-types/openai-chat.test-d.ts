import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageToolCall,
} from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import { describe, expectTypeOf, it } from "vitest";
import type {
  ChatResponse,
  ChatCallSaid,
  ChatChoice,
  ChatCounts,
  ChatFinishReason,
  ChatRequest,
  ChatSaid,
} from "../../src/providers/openai-chat/chat-wire.ts";
import type { Echo } from "../../src/providers/wire-type.ts";
import type { Mismatch, Unknown } from "./mismatch.ts";

type Choice = ChatCompletionChunk.Choice | ChatCompletion.Choice;
type Delta = ChatCompletionChunk.Choice.Delta;

describe("requests of the chat wire", () => {
  it("are what the SDK sends, but for what users name", () => {
    expectTypeOf<
      Mismatch<ChatRequest, ChatCompletionCreateParamsStreaming, Echo>
    >().toEqualTypeOf<// Whatever the user gave: which formats are taken changes with the model.
    ".messages[].content[].input_audio.format">();
  });
});

describe("responses of the chat wire", () => {
  it("are read by members that the SDK describes, and by those that other servers add", () => {
    expectTypeOf<Unknown<ChatResponse, ChatCompletionChunk | ChatCompletion>>().toEqualTypeOf<"x_groq" | "error">();
    expectTypeOf<Unknown<ChatChoice, Choice>>().toEqualTypeOf<"usage" | "error">();
    expectTypeOf<Unknown<ChatSaid, Delta | ChatCompletionMessage>>().toEqualTypeOf<
      "images" | "reasoning_content" | "reasoning" | "reasoning_text" | "reasoning_details"
    >();
    expectTypeOf<
      Unknown<ChatCallSaid, ChatCompletionChunk.Choice.Delta.ToolCall | ChatCompletionMessageToolCall>
    >().toEqualTypeOf<"extra_content">();
    expectTypeOf<Unknown<ChatCounts, CompletionUsage>>().toEqualTypeOf<
      | "input_tokens"
      | "output_tokens"
      | "prompt_cache_hit_tokens"
      | "cached_tokens"
      | "num_cached_tokens"
      | "cache_write_tokens"
      | "cache_read_input_tokens"
      | "cache_creation_input_tokens"
      | "reasoning_tokens"
    >();
  });

  it("tell calls apart by names that the SDK knows", () => {
    expectTypeOf<NonNullable<ChatCallSaid["type"]>>().toEqualTypeOf<ChatCompletionMessageToolCall["type"]>();
  });

  it("end for every reason that the SDK knows", () => {
    expectTypeOf<ChatFinishReason>().toEqualTypeOf<NonNullable<Choice["finish_reason"]>>();
  });
});
