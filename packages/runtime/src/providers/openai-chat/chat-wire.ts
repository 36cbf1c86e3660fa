// The chat wire as far as this client writes and reads it: requests as OpenAI takes them, responses with what others say beside. Type
// tests hold it to OpenAI's own types.
import type { JsonObject } from "@keelson/protocol";
import type { ReasoningEffort } from "../reasoning-effort.ts";
import type { Echo, Reads } from "../wire-type.ts";

export type ChatRequest = ChatParameters & { readonly tools?: readonly ChatTool[]; readonly messages: readonly ChatMessage[] };

/** What of a request is neither conversation nor tools. */
export type ChatParameters = {
  readonly model: string;
  readonly stream: true;
  readonly stream_options?: { readonly include_usage: true };
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
  readonly reasoning_effort?: ReasoningEffort;
  readonly response_format?: {
    readonly type: "json_schema";
    readonly json_schema: { readonly name: string; readonly schema: JsonObject; readonly strict: boolean };
  };
  readonly tool_choice?: ChatToolChoice;
};

export type ChatToolChoice = "auto" | "none" | "required" | { readonly type: "function"; readonly function: { readonly name: string } };

export type ChatTool = {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
};

export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | ChatUserMessage
  | ChatAssistantMessage
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }
  | { readonly role: "function"; readonly name: string; readonly content: string };

export type ChatUserMessage = { readonly role: "user"; readonly content: string | readonly ChatPart[] };

export type ChatAssistantMessage = {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal?: string;
  readonly audio?: { readonly id: Echo };
  readonly tool_calls?: readonly ChatToolCall[];
  readonly function_call?: { readonly name: string; readonly arguments: string };
};

export type ChatToolCall =
  | { readonly id: string; readonly type: "function"; readonly function: { readonly name: string; readonly arguments: string } }
  | { readonly id: string; readonly type: "custom"; readonly custom: { readonly name: string; readonly input: string } };

export type ChatText = { readonly type: "text"; readonly text: string };

export type ChatPart =
  | ChatText
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: Echo } }
  /** The formats that models take change; the server says so when one is not among them. */
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: "file"; readonly file: { readonly file_id: Echo } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } }
  | Echo;

/** One event of a stream, or a response that is none. */
export type ChatResponse = Reads<"id" | "model" | "choices" | "usage" | "system_fingerprint" | "object" | "x_groq" | "error">;
export type ChatChoice = Reads<"index" | "delta" | "message" | "finish_reason" | "usage" | "error">;
/** A message, or what an event adds to it. */
export type ChatSaid = Reads<
  | "content"
  | "refusal"
  | "annotations"
  | "tool_calls"
  | "function_call"
  | "audio"
  | "images"
  | "reasoning_content"
  | "reasoning"
  | "reasoning_text"
  | "reasoning_details"
>;
export type ChatCallSaid = Reads<"index" | "id" | "function" | "custom" | "extra_content"> & { readonly type?: "function" | "custom" };

export type ChatCounts = Reads<
  | "prompt_tokens"
  | "completion_tokens"
  // The names of other APIs, which gateways keep.
  | "input_tokens"
  | "output_tokens"
  | "total_tokens"
  | "prompt_tokens_details"
  | "completion_tokens_details"
  | "prompt_cache_hit_tokens"
  | "cached_tokens"
  | "num_cached_tokens"
  | "cache_write_tokens"
  | "cache_read_input_tokens"
  | "cache_creation_input_tokens"
  | "reasoning_tokens"
>;

export type ChatFinishReason = "stop" | "tool_calls" | "function_call" | "length" | "content_filter";
