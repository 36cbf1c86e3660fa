import type Anthropic from "@anthropic-ai/sdk";
import { describe, expectTypeOf, it } from "vitest";
import type {
  AnthropicResponse,
  AnthropicBlockStart,
  AnthropicCounts,
  AnthropicDelta,
  AnthropicEnding,
  AnthropicEvent,
  AnthropicRequest,
  AnthropicStopReason,
  AnthropicStreamedBlock,
} from "../../src/providers/anthropic/anthropic-wire.ts";
import type { Echo } from "../../src/providers/wire-type.ts";
import type { MemberOf, Mismatch, Unknown } from "./mismatch.ts";

type Event = Anthropic.RawMessageStreamEvent;

describe("requests of the Messages API", () => {
  it("are what the SDK sends, but for what only some models take and what users name", () => {
    expectTypeOf<Mismatch<AnthropicRequest, Anthropic.MessageCreateParamsStreaming, Echo>>().toEqualTypeOf<
      // The SDK no longer knows them; older models take them, newer ones refuse them.
      | ".temperature?"
      | ".top_p?"
      // Whatever the user gave: which types are taken changes with the model.
      | ".messages[].content[].source.media_type"
      | ".messages[].content[].content[].source.media_type"
    >();
  });
});

describe("responses of the Messages API", () => {
  it("are read by members that the SDK describes", () => {
    expectTypeOf<Unknown<AnthropicEvent, Event>>().toEqualTypeOf<"error">(); // the SDK throws it
    expectTypeOf<Unknown<AnthropicResponse, Anthropic.Message>>().toEqualTypeOf<"error">();
    expectTypeOf<Unknown<AnthropicEnding, Anthropic.RawMessageDeltaEvent.Delta>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<AnthropicBlockStart, Anthropic.ContentBlock>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<AnthropicDelta, Anthropic.RawContentBlockDelta>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<AnthropicCounts, Anthropic.Beta.BetaUsage>>().toEqualTypeOf<"total_tokens">(); // gateways add it
  });

  it("are told apart by names that the SDK knows", () => {
    expectTypeOf<Exclude<AnthropicEvent["type"], Event["type"] | undefined>>().toEqualTypeOf<"error">();
    expectTypeOf<AnthropicStreamedBlock>().toExtend<Anthropic.ContentBlock["type"]>();
    expectTypeOf<NonNullable<AnthropicDelta["type"]>>().toExtend<Anthropic.RawContentBlockDelta["type"]>();
  });

  it("end for every reason that the SDK knows", () => {
    expectTypeOf<AnthropicStopReason>().toEqualTypeOf<Anthropic.StopReason | Anthropic.Beta.BetaStopReason>();
  });
});
