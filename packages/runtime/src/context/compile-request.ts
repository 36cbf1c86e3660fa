import type { InferRequest, Message, ToolSchema } from "@keelson/protocol";

export interface CompileOptions {
  readonly model: string;
  readonly system?: string;
  readonly tools?: readonly ToolSchema[];
  readonly messages: readonly Message[];
  readonly settings?: InferenceSettings;
}

export type InferenceSettings = Pick<
  InferRequest,
  "maxTokens" | "temperature" | "topP" | "stopSequences" | "effort" | "thinking" | "toolChoice" | "output" | "cache" | "extra"
>;

/**
 * The request of one inference. What changes least stands first (system, tools, then the conversation in its order), so
 * that consecutive requests of a conversation share their prefix to the byte.
 */
export function compileRequest({ model, system, tools, messages, settings }: CompileOptions): InferRequest {
  return {
    ...settings,
    model,
    ...(system !== undefined && system !== "" && { system }),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    messages,
  };
}
