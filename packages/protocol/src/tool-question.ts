import type { Content, Message } from "./content.ts";
import type { StopReason } from "./inference.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Usage } from "./usage.ts";

/** What a tool asks a person while it runs. */
export interface ToolQuestion {
  /** For the person. Text of whoever asks: it is shown as theirs. */
  readonly message: string;
  /** Who asks, where that is not the tool itself: a server. */
  readonly from?: string;
  /** JSON Schema of the value that is asked for; an answer that does not match is refused. Absent: a yes is enough. */
  readonly schema?: JsonObject;
  /** A page where the person does something; the answer says that it was done. */
  readonly url?: string;
  /**
   * Whether the call has changed nothing so far and may be made again from its start with the answer. Default: what the tool's `effect` says: `read` and
   * `idempotent` calls may, a `write` call is held open instead.
   */
  readonly mayRepeat?: boolean;
}

export type ToolAnswer =
  | { readonly type: "provided"; readonly value: JsonValue }
  /** The person would not say. */
  | { readonly type: "declined"; readonly reason?: string }
  /** Nobody answered in time, or the run is being ended. */
  | { readonly type: "cancelled"; readonly reason?: string };

/** What a tool asks a model while it runs. It is charged to the budgets of the run and may need a person's permission. */
export interface ToolInference {
  /** Who asks, where that is not the tool itself: a server. */
  readonly from?: string;
  readonly messages: readonly Message[];
  readonly system?: string;
  /** Bounds the response; less where the model or a budget allows less. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
}

export type ToolInferenceAnswer =
  | {
      readonly type: "response";
      readonly content: readonly Content[];
      readonly model: string;
      readonly stopReason: StopReason;
      readonly usage: Usage;
    }
  /** A rule, a person or a budget said no, or the model failed; `reason` says which. */
  | { readonly type: "refused"; readonly reason: string };
