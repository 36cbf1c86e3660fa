import type { Content, Message, ProviderData } from "./content.ts";
import type { ModelFailure } from "./errors/model-error.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Usage } from "./usage.ts";
import type { Usd } from "./usd.ts";

/** What the model is told of a tool. */
export type ToolSchema = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
};

/** A tool that no request to a vendor may offer. */
export type UnfitTool = {
  readonly tool: string;
  /** Completes a sentence, as in "its schema refers to …". */
  readonly problem: string;
};

export type EffortLevel = "low" | "medium" | "high" | "max";
export type ThinkingConfig =
  | { readonly type: "adaptive" }
  | { readonly type: "enabled"; readonly budgetTokens: number }
  | { readonly type: "disabled" };
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

export interface InferRequest {
  /** The vendor's model id, without a provider prefix. */
  readonly model: string;
  /** The stable prefix; sent before all messages. */
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice;
  /** Bounds what the vendor may generate and bill, thinking included; a provider that can't make sure of that says so by `outputBound`. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  readonly effort?: EffortLevel;
  readonly thinking?: ThinkingConfig;
  /** The response must be JSON of this schema, by the vendor's native means. */
  readonly output?: { readonly name: string; readonly schema: JsonObject };
  /** Whether to mark the stable prefix for the vendor's prompt cache, where it needs marks. Default `auto`. */
  readonly cache?: "auto" | "none";
  /** Merged into the request body as it is: features of one vendor. */
  readonly extra?: JsonObject;
}

export type StopReason = "end-turn" | "tool-use" | "max-tokens" | "stop-sequence" | "content-filter" | "pause" | "other";

export interface InferEnd {
  readonly type: "end";
  readonly stopReason: StopReason;
  readonly rawStopReason: string | null;
  readonly usage: Usage;
  readonly model: string;
  /** Facts of the whole response that the vendor wants back or that help support: message id, matched stop sequence. */
  readonly providerData?: ProviderData;
}

/**
 * What a provider streams. One text or thinking segment is open at a time; tool calls are told apart by `index`
 * (0, 1, … in order of appearance) and may interleave. The last event is `end`. Failures are thrown as `ModelError`.
 */
export type InferEvent =
  | { readonly type: "text-start" }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "text-end"; readonly providerData?: ProviderData }
  | { readonly type: "thinking-start" }
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "thinking-end"; readonly providerData?: ProviderData }
  /** `id` is the vendor's, or one made up when the vendor sends none. */
  | { readonly type: "tool-call-start"; readonly index: number; readonly id: string; readonly name: string; readonly custom?: true }
  | { readonly type: "tool-call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "tool-call-end"; readonly index: number; readonly providerData?: ProviderData }
  /** A part that comes whole: refusal, image, server-run tool, redacted thinking. */
  | { readonly type: "content"; readonly part: Content }
  | { readonly type: "rate-limit"; readonly rateLimit: RateLimit }
  | InferEnd;

export type RateLimit = {
  /** How much of the limit is used, 0 to 1; `null` when unknown. */
  readonly utilization: number | null;
  /** Unix ms; `null` when unknown. */
  readonly resetAt: number | null;
  readonly allowed: boolean;
};

export interface InferResponse {
  readonly content: readonly Content[];
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: JsonValue | undefined;
    readonly inputText: string;
  }[];
  readonly stopReason: StopReason;
  readonly rawStopReason: string | null;
  readonly usage: Usage;
  readonly model: string;
  readonly cost: Usd | null;
  readonly providerData?: ProviderData;
}

export interface InferOptions {
  readonly signal?: AbortSignal | undefined;
  /** Sent where the vendor honours one. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Identity of the conversation. A provider may keep encoded messages by it (in a `WeakMap`), so that a request of a
   * long conversation costs its new messages only.
   */
  readonly conversation?: object | undefined;
  /**
   * Called when the request was lost with a reused connection, which the server had closed before any byte of a response. If it returns true, the
   * request is sent once more, over a new connection; the lost one may be billed all the same. Default: it is not sent again, and the call fails.
   */
  readonly resendLost?: ((failure: ModelFailure) => boolean) | undefined;
}

/**
 * A model API. `stream` connects on the first `next`, never retries (but for `resendLost`), and releases its connection when
 * the consumer leaves the loop or `signal` fires. Failures reject with `ModelError`; a stream that breaks off is one too.
 */
export interface Provider {
  readonly name: string;
  /** The wire protocol, which `ProviderData.wire` names. */
  readonly wire: string;
  stream(request: InferRequest, options?: InferOptions): AsyncIterable<InferEvent>;
  /**
   * The most tokens of output that the vendor may bill for this request, thinking included; `null` where nothing that is sent bounds
   * them. Default: `maxTokens`.
   */
  outputBound?(request: InferRequest): number | null;
  /** Those of the tools that its API would refuse in any form: they are left out of requests. Default: none. */
  unfitTools?(tools: readonly ToolSchema[]): readonly UnfitTool[];
  listModels?(options?: { readonly signal?: AbortSignal }): Promise<readonly ModelInfo[]>;
}

export interface ModelCapabilities {
  readonly toolCalling: boolean;
  readonly vision: boolean;
  readonly streaming: boolean;
  readonly structuredOutput: boolean;
  readonly effortLevels: boolean;
}

export interface ModelInfo {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly capabilities: ModelCapabilities;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly supportedEffortLevels: readonly EffortLevel[];
}
