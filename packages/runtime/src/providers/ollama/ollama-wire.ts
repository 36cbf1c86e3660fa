// Ollama's own chat API as far as this client writes and reads it. Type tests hold it to the types of its SDK.
import type { JsonObject } from "@keelson/protocol";
import type { Reads } from "../wire-type.ts";

export type OllamaRequest = OllamaParameters & { readonly tools?: readonly OllamaTool[]; readonly messages: readonly OllamaMessage[] };

/** What of a request is neither conversation nor tools. */
export type OllamaParameters = {
  readonly model: string;
  readonly stream: true;
  readonly options?: OllamaModelOptions;
  readonly think?: OllamaThink;
  /** A JSON Schema that the response must fit. */
  readonly format?: JsonObject;
  readonly keep_alive?: string | number;
};

export type OllamaThink = boolean | "low" | "medium" | "high";

export type OllamaModelOptions = {
  readonly num_ctx?: number;
  readonly num_predict?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
};

export type OllamaTool = {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
};

export type OllamaMessage = OllamaSaid | OllamaResponse | OllamaToolMessage;

export type OllamaSaid = { readonly role: "system" | "user"; readonly content: string; readonly images?: readonly string[] };

export type OllamaResponse = {
  readonly role: "assistant";
  readonly content: string;
  readonly thinking?: string;
  readonly tool_calls?: readonly OllamaCall[];
};

export type OllamaCall = {
  readonly id?: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: JsonObject };
};

export type OllamaToolMessage = {
  readonly role: "tool";
  readonly content: string;
  readonly tool_name: string;
  readonly tool_call_id?: string;
};

/** One line of a response. */
export type OllamaLine = Reads<
  | "error"
  | "message"
  | "model"
  | "done"
  | "done_reason"
  | "prompt_eval_count"
  | "eval_count"
  | "total_duration"
  | "load_duration"
  | "prompt_eval_duration"
  | "eval_duration"
>;
export type OllamaLineMessage = Reads<"thinking" | "content" | "tool_calls">;
export type OllamaCalled = Reads<"id" | "function">;
