// The Responses API as far as this client writes and reads it. Type tests hold it to OpenAI's own types.
import type { JsonObject } from "@keelson/protocol";
import type { ReasoningEffort } from "../reasoning-effort.ts";
import type { Echo, Reads } from "../wire-type.ts";

export type ResponsesRequest = ResponsesParameters &
  ResponsesIncluded & { readonly tools?: readonly ResponsesTool[]; readonly input: readonly ResponsesItem[] };

/** What of a request is neither conversation nor tools. */
export type ResponsesParameters = {
  readonly model: string;
  readonly stream: true;
  readonly store: false;
  readonly instructions?: string;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
  readonly reasoning?: ResponsesReasoning;
  readonly text?: {
    readonly format: { readonly type: "json_schema"; readonly name: string; readonly schema: JsonObject; readonly strict: boolean };
  };
  readonly tool_choice?: "auto" | "none" | "required" | { readonly type: "function"; readonly name: string };
};

export type ResponsesReasoning = { readonly effort?: ReasoningEffort; readonly summary?: "auto" };

/** What the response must hold beside the usual; users may ask for more. */
export type ResponsesIncluded = { readonly include?: readonly ("reasoning.encrypted_content" | Echo)[] };

export type ResponsesTool = {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: boolean;
};

export type ResponsesItem =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ResponsesInputPart[] }
  | ResponsesMessage
  | ResponsesReasoningItem
  | ResponsesCall
  | ResponsesCallOutput
  | ResponsesClientOutput
  | Echo;

export type ResponsesMessage =
  | { readonly role: "assistant"; readonly content: string; readonly phase?: Echo }
  | {
      readonly type: "message";
      readonly id: string;
      readonly role: "assistant";
      readonly status: "completed";
      readonly content: readonly ResponsesSaid[];
      readonly phase?: Echo;
    };

export type ResponsesSaid =
  | { readonly type: "output_text"; readonly text: string; readonly annotations: Echo | readonly [] }
  | { readonly type: "refusal"; readonly refusal: string };

export type ResponsesReasoningItem = {
  readonly type: "reasoning";
  /** Some servers give none. */
  readonly id?: string;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
  readonly content?: readonly { readonly type: "reasoning_text"; readonly text: string }[];
  readonly encrypted_content?: Echo;
};

export type ResponsesCall = { readonly id?: Echo; readonly call_id: string; readonly name: string } & (
  | { readonly type: "function_call"; readonly arguments: string }
  | { readonly type: "custom_tool_call"; readonly input: string }
);

export type ResponsesCallOutput = { readonly call_id: string; readonly output: string | readonly ResponsesInputPart[] } & (
  | { readonly type: "function_call_output" }
  | { readonly type: "custom_tool_call_output" }
);

/** How the server is told what came of something that it has its caller run. */
export type ResponsesClientOutput =
  | { readonly type: "local_shell_call_output"; readonly id: string; readonly output: string }
  | {
      readonly type: "shell_call_output";
      readonly call_id: string;
      readonly output: readonly {
        readonly stdout: string;
        readonly stderr: string;
        readonly outcome: { readonly type: "exit"; readonly exit_code: number };
      }[];
    }
  | { readonly type: "apply_patch_call_output"; readonly call_id: string; readonly status: "failed"; readonly output: string };

export type ResponsesInputPart =
  | ResponsesInputText
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: Echo | "auto" }
  | { readonly type: "input_image"; readonly file_id: Echo; readonly detail: Echo | "auto" }
  | { readonly type: "input_file"; readonly file_id: Echo }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string }
  | { readonly type: "input_file"; readonly file_url: string }
  | ResponsesAudio;

/** Not for OpenAI's own models, but for those of others that speak this wire. */
export type ResponsesAudio = { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } };

export type ResponsesInputText = { readonly type: "input_text"; readonly text: string };

/** One event of a stream. */
export type ResponsesEvent = Reads<
  "delta" | "output_index" | "content_index" | "summary_index" | "arguments" | "input" | "item" | "item_id" | "part" | "response" | "error"
> & { readonly type?: ResponsesEventName };

export type ResponsesEventName =
  | "response.output_text.delta"
  | "response.refusal.delta"
  | "response.content_part.done"
  | "response.reasoning_summary_text.delta"
  | "response.reasoning_text.delta"
  | "response.reasoning.delta"
  | "response.function_call_arguments.delta"
  | "response.function_call_arguments.done"
  | "response.custom_tool_call_input.delta"
  | "response.custom_tool_call_input.done"
  | "response.output_item.added"
  | "response.output_item.done"
  | "response.created"
  | "response.queued"
  | "response.in_progress"
  | "response.completed"
  | "response.incomplete"
  | "response.failed"
  | "response.cancelled"
  | "response.done"
  | "error";

/** A response: whole, or as its events tell it. */
export type ResponsesResponse = Reads<"id" | "model" | "store" | "status" | "error" | "output" | "incomplete_details" | "usage">;

/** An item of the output, whole or as it begins. Those that this client knows nothing of are kept as they are. */
export type ResponsesOutput = Reads<
  "type" | "id" | "phase" | "content" | "summary" | "encrypted_content" | "call_id" | "name" | "arguments" | "input"
>;
/** The items that are more to this client than a whole. */
export type ResponsesKnownOutput = "message" | "reasoning" | "function_call" | "custom_tool_call";

export type ResponsesOutputPart = Reads<"type" | "text" | "refusal" | "annotations">;

export type ResponsesCounts = Reads<
  | "input_tokens"
  | "output_tokens"
  // The names of the chat wire, which gateways keep.
  | "prompt_tokens"
  | "completion_tokens"
  | "total_tokens"
  | "input_tokens_details"
  | "output_tokens_details"
  | "cache_read_input_tokens"
  | "cache_creation_input_tokens"
>;
