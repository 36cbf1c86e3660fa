// `generateContent` as far as this client writes and reads it. Type tests hold it to the types of Google's SDK.
import type { JsonObject } from "@keelson/protocol";
import type { Echo, Reads } from "../wire-type.ts";

export type GeminiRequest = GeminiParameters & { readonly tools?: readonly GeminiTools[]; readonly contents: readonly GeminiContent[] };

/** What of a request is neither conversation nor tools. */
export type GeminiParameters = {
  readonly systemInstruction?: { readonly parts: readonly { readonly text: string }[] };
  readonly generationConfig?: GeminiGenerationConfig;
  readonly toolConfig?: GeminiToolConfig;
};

export type GeminiGenerationConfig = {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  readonly thinkingConfig?: GeminiThinkingConfig;
  readonly responseMimeType?: "application/json";
  readonly responseSchema?: JsonObject;
};

export type GeminiThinkingConfig = GeminiThinkingAmount & { readonly includeThoughts?: true };

export type GeminiThinkingAmount = {
  readonly thinkingBudget?: number;
  /** The API takes them in small letters too, as its documentation writes them. */
  readonly thinkingLevel?: "minimal" | "low" | "medium" | "high";
};

export type GeminiToolConfig = {
  readonly functionCallingConfig: { readonly mode: "AUTO" | "NONE" | "ANY"; readonly allowedFunctionNames?: readonly string[] };
};

export type GeminiTools = { readonly functionDeclarations: readonly GeminiFunction[] };

export type GeminiFunction = { readonly name: string; readonly description: string; readonly parameters: JsonObject };

export type GeminiContent = { readonly role: "user" | "model"; readonly parts: readonly GeminiPart[] };

/** What the model must get back with the part that it came with. */
export type GeminiSignature = { readonly thoughtSignature?: string };

export type GeminiText = GeminiSignature & { readonly text: string; readonly thought?: true };

export type GeminiMedia =
  | GeminiText
  | (GeminiSignature & { readonly inlineData: { readonly mimeType: string; readonly data: string } })
  | (GeminiSignature & { readonly fileData: { readonly mimeType: string; readonly fileUri: string } });

export type GeminiCall = GeminiSignature & {
  readonly functionCall: { readonly id?: string; readonly name: string; readonly args: JsonObject };
};

export type GeminiResult = {
  readonly functionResponse: { readonly id?: string; readonly name: string; readonly response: JsonObject };
};

export type GeminiPart = GeminiMedia | GeminiCall | GeminiResult | Echo;

/** A response, or a chunk of one. */
export type GeminiResponse = Reads<"error" | "modelVersion" | "responseId" | "usageMetadata" | "promptFeedback" | "candidates">;
export type GeminiCandidate = Reads<
  "index" | "content" | "finishReason" | "groundingMetadata" | "citationMetadata" | "urlContextMetadata" | "finishMessage"
>;
export type GeminiSaid = Reads<
  | "text"
  | "thought"
  | "thoughtSignature"
  | "functionCall"
  | "executableCode"
  | "codeExecutionResult"
  | "toolCall"
  | "toolResponse"
  | "inlineData"
  | "fileData"
>;
export type GeminiCalled = Reads<"id" | "name" | "args" | "partialArgs" | "willContinue">;

export type GeminiCounts = Reads<
  | "promptTokenCount"
  | "toolUsePromptTokenCount"
  | "candidatesTokenCount"
  | "thoughtsTokenCount"
  | "cachedContentTokenCount"
  | "totalTokenCount"
>;

/** Why a response ended, where that is more than an error. */
export type GeminiFinishReason =
  | "STOP"
  | "MAX_TOKENS"
  | "SAFETY"
  | "RECITATION"
  | "BLOCKLIST"
  | "PROHIBITED_CONTENT"
  | "SPII"
  | "MODEL_ARMOR"
  | "IMAGE_SAFETY"
  | "IMAGE_PROHIBITED_CONTENT"
  | "IMAGE_RECITATION";
