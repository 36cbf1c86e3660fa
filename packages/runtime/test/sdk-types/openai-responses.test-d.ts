import type {
  Response,
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { describe, expectTypeOf, it } from "vitest";
import type {
  ResponsesResponse,
  ResponsesAudio,
  ResponsesCounts,
  ResponsesEvent,
  ResponsesEventName,
  ResponsesKnownOutput,
  ResponsesOutput,
  ResponsesOutputPart,
  ResponsesRequest,
} from "../../src/providers/openai-responses/responses-wire.ts";
import type { Echo } from "../../src/providers/wire-type.ts";
import type { Mismatch, Unknown } from "./mismatch.ts";

describe("requests of the Responses API", () => {
  it("are what the SDK sends, but for what other servers of the wire take, and what users name", () => {
    expectTypeOf<Mismatch<ResponsesRequest, ResponseCreateParamsStreaming, Echo | ResponsesAudio>>().toEqualTypeOf<
      // OpenAI says that it knows none; others take them.
      | ".stop?"
      // Others give their reasoning no id.
      | ".input[].id!"
    >();
    expectTypeOf<ResponsesAudio["type"] & ResponseInputContent["type"]>().toEqualTypeOf<never>();
  });
});

describe("responses of the Responses API", () => {
  it("are read by members that the SDK describes", () => {
    expectTypeOf<Unknown<ResponsesEvent, ResponseStreamEvent>>().toEqualTypeOf<"error">(); // of errors without a type
    expectTypeOf<Unknown<ResponsesResponse, Response>>().toEqualTypeOf<"store">(); // the server repeats it
    expectTypeOf<Unknown<ResponsesOutput, ResponseOutputItem>>().toEqualTypeOf<never>();
    expectTypeOf<
      Unknown<ResponsesOutputPart, ResponseOutputMessage["content"][number] | ResponseReasoningItem.Content>
    >().toEqualTypeOf<never>();
    expectTypeOf<Unknown<ResponsesCounts, ResponseUsage>>().toEqualTypeOf<
      "prompt_tokens" | "completion_tokens" | "cache_read_input_tokens" | "cache_creation_input_tokens"
    >();
  });

  it("are told apart by names that the SDK knows, and by those of other servers", () => {
    expectTypeOf<Exclude<ResponsesEventName, ResponseStreamEvent["type"]>>().toEqualTypeOf<
      "response.reasoning.delta" | "response.cancelled" | "response.done"
    >();
    expectTypeOf<ResponsesKnownOutput>().toExtend<ResponseOutputItem["type"]>();
  });
});
