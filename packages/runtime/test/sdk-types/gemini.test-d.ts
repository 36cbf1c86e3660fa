import type {
  Candidate,
  Content,
  FinishReason,
  FunctionCall,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
  GenerationConfig,
  Part,
  Tool,
  ToolConfig,
} from "@google/genai";
import { describe, expectTypeOf, it } from "vitest";
import type {
  GeminiResponse,
  GeminiCalled,
  GeminiCandidate,
  GeminiCounts,
  GeminiFinishReason,
  GeminiRequest,
  GeminiSaid,
} from "../../src/providers/gemini/gemini-wire.ts";
import type { Echo } from "../../src/providers/wire-type.ts";
import type { Mismatch, Unknown } from "./mismatch.ts";

/** The SDK's own parameters are put together otherwise; on the wire they stand so. */
interface Theirs {
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
}

describe("requests of generateContent", () => {
  it("are made of what the SDK sends, but for levels in small letters, as the API documents them", () => {
    expectTypeOf<Mismatch<GeminiRequest, Theirs, Echo>>().toEqualTypeOf<".generationConfig.thinkingConfig.thinkingLevel">();
  });
});

describe("responses of generateContent", () => {
  it("are read by members that the SDK describes", () => {
    expectTypeOf<Unknown<GeminiResponse, GenerateContentResponse>>().toEqualTypeOf<"error">(); // the SDK throws it
    expectTypeOf<Unknown<GeminiCandidate, Candidate>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<GeminiSaid, Part>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<GeminiCalled, FunctionCall>>().toEqualTypeOf<never>();
    expectTypeOf<Unknown<GeminiCounts, GenerateContentResponseUsageMetadata>>().toEqualTypeOf<never>();
  });

  it("end for reasons that the SDK knows, and for those of Vertex", () => {
    expectTypeOf<Exclude<GeminiFinishReason, `${FinishReason}`>>().toEqualTypeOf<"MODEL_ARMOR">();
  });
});
