// The Messages API as far as this client writes and reads it. Type tests hold it to the vendor's own types.
import type { EffortLevel, JsonObject } from "@keelson/protocol";
import type { Echo, Reads } from "../wire-type.ts";

export type AnthropicRequest = AnthropicParameters & {
  readonly tools?: readonly AnthropicTool[];
  readonly system?: readonly AnthropicText[];
  readonly messages: readonly AnthropicMessage[];
};

/** What of a request is neither conversation nor tools. */
export type AnthropicParameters = {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream: true;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop_sequences?: readonly string[];
  readonly thinking?:
    | { readonly type: "enabled"; readonly budget_tokens: number }
    | { readonly type: "adaptive" }
    | { readonly type: "disabled" };
  readonly output_config?: AnthropicOutputConfig;
  readonly tool_choice?: AnthropicToolChoice;
};

export type AnthropicToolChoice =
  | { readonly type: "auto" }
  | { readonly type: "any" }
  | { readonly type: "none" }
  | { readonly type: "tool"; readonly name: string };

export type AnthropicOutputConfig = {
  readonly effort?: EffortLevel;
  readonly format?: { readonly type: "json_schema"; readonly schema: JsonObject };
};

/** Ends the part of a request that the vendor's prompt cache keeps. */
type Marked = { readonly cache_control?: { readonly type: "ephemeral" } };

export type AnthropicTool = Marked & {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
};

export type AnthropicMessage =
  | { readonly role: "user"; readonly content: readonly AnthropicUserBlock[] }
  | { readonly role: "assistant"; readonly content: readonly AnthropicAssistantBlock[] };

export type AnthropicText = Marked & { readonly type: "text"; readonly text: string; readonly citations?: Echo };

export type AnthropicMedia = Marked &
  (
    | { readonly type: "image"; readonly source: AnthropicBytes | AnthropicUrl }
    | {
        readonly type: "document";
        readonly source:
          | AnthropicBytes
          | AnthropicUrl
          | { readonly type: "text"; readonly media_type: "text/plain"; readonly data: string }
          | { readonly type: "file"; readonly file_id: Echo };
        readonly title?: string;
      }
  );
/** The media types that the vendor takes change; he says so when one is not among them. */
type AnthropicBytes = { readonly type: "base64"; readonly media_type: string; readonly data: string };
type AnthropicUrl = { readonly type: "url"; readonly url: string };

export type AnthropicResult = Marked & {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?: string | readonly AnthropicPart[];
  readonly is_error?: boolean;
};

/** What may stand in a tool's result, or beside it. */
export type AnthropicPart = AnthropicText | AnthropicMedia | Echo;

export type AnthropicUserBlock = AnthropicPart | AnthropicResult;

export type AnthropicCall = {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly caller?: Echo;
};

export type AnthropicAssistantBlock =
  | AnthropicText
  | AnthropicCall
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | Echo;

/** One event of a stream. */
export type AnthropicEvent = Reads<"message" | "index" | "content_block" | "delta" | "usage" | "error"> & {
  readonly type?:
    | "message_start"
    | "content_block_start"
    | "content_block_delta"
    | "content_block_stop"
    | "message_delta"
    | "message_stop"
    | "error";
};

/** A response: whole, or as its stream begins. */
export type AnthropicResponse = Reads<
  "type" | "id" | "model" | "container" | "content" | "usage" | "stop_reason" | "stop_sequence" | "error"
>;

/** What a `message_delta` changes of the response. */
export type AnthropicEnding = Reads<"stop_reason" | "stop_sequence" | "stop_details" | "container">;

/** A block, whole or as it begins. Those that this client knows nothing of are kept as they are. */
export type AnthropicBlockStart = Reads<
  "text" | "citations" | "thinking" | "signature" | "data" | "id" | "name" | "input" | "caller" | "content"
> & { readonly type?: string };
/** The blocks that are streamed to the watchers. */
export type AnthropicStreamedBlock = "text" | "thinking" | "tool_use";

export type AnthropicDelta = Reads<"text" | "thinking" | "signature" | "partial_json" | "citation"> & {
  readonly type?: "text_delta" | "thinking_delta" | "input_json_delta" | "citations_delta";
};

export type AnthropicCounts = Reads<
  | "input_tokens"
  | "output_tokens"
  | "total_tokens"
  | "cache_read_input_tokens"
  | "cache_creation_input_tokens"
  | "output_tokens_details"
  | "iterations"
>;

export type AnthropicStopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "model_context_window_exceeded"
  | "stop_sequence"
  | "refusal"
  | "pause_turn"
  | "compaction";
