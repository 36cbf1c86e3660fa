import type { ChatRequest, ChatResponse, Message, ToolCall } from "ollama";
import { describe, expectTypeOf, it } from "vitest";
import type { OllamaCalled, OllamaLine, OllamaLineMessage, OllamaRequest } from "../../src/providers/ollama/ollama-wire.ts";
import type { Echo } from "../../src/providers/wire-type.ts";
import type { Mismatch, Unknown } from "./mismatch.ts";

describe("requests of Ollama's chat API", () => {
  it("are what the SDK sends, but for the ids of calls, which the server has and its SDK leaves out", () => {
    expectTypeOf<Mismatch<OllamaRequest, ChatRequest, Echo>>().toEqualTypeOf<
      ".messages[].tool_call_id?" | ".messages[].tool_calls[].id?" | ".messages[].tool_calls[].type?"
    >();
  });
});

describe("responses of Ollama's chat API", () => {
  it("are read by members that the SDK describes", () => {
    expectTypeOf<Unknown<OllamaLine, ChatResponse>>().toEqualTypeOf<"error">(); // the SDK throws it
    expectTypeOf<Unknown<OllamaLineMessage, Message>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<OllamaCalled, ToolCall>>().toEqualTypeOf<"id">();
  });
});
