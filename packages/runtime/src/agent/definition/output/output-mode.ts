import type { JsonObject, Message, RunId, SessionId } from "@keelson/protocol";

/** What an extraction is told beside the text. */
export interface ExtractContext {
  readonly session: SessionId;
  readonly runId: RunId;
  /** The model that responded. */
  readonly model: string;
  /** The whole response, with what is not text. */
  readonly message: Message;
  /** JSON Schema of `output`. */
  readonly schema: JsonObject;
  /** Responses of this run that were not accepted so far. */
  readonly repairs: number;
}

/** Takes the output by a call of a tool that does nothing else. */
export interface ToolOutputMode {
  readonly type: "tool";
  /** Default `final_answer`. None of the agent's tools may have it. */
  readonly name?: string;
  /** What the model is told of it, instead of our words. */
  readonly description?: string;
}

/** Reads the output from the model's text by a function of yours. */
export interface CustomOutputMode {
  readonly type: "custom";
  /**
   * Gives the value that is held against `output`; `undefined` where the text has none, which is then told to the model. Called
   * once for each response: its verdict is recorded. What it throws ends the run as a panic.
   */
  extract(text: string, context: ExtractContext): unknown;
}

/**
 * How the structured output is asked for and read.
 * - `tool` (default): the model calls a tool whose input is the output. Works with every model that calls tools.
 * - `native`: the vendor holds the response to the schema.
 * - `prompt`: the schema is told in the system prompt, and the first JSON of the text that fits is the output.
 * - `custom`: nothing is told; a function of yours reads the text.
 */
export type OutputModeOption = "tool" | "native" | "prompt" | ToolOutputMode | CustomOutputMode;
