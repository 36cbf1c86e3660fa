import type { InferRequest, Message, ToolSchema } from "@keelson/protocol";
import { definedOptions } from "../json/defined-options.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface CompileOptions {
  readonly model: string;
  readonly system?: string | undefined;
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly messages: readonly Message[];
  readonly settings?: InferenceSettings | undefined;
}

type SettingName =
  | "maxTokens"
  | "temperature"
  | "topP"
  | "stopSequences"
  | "effort"
  | "thinking"
  | "toolChoice"
  | "output"
  | "cache"
  | "extra";
export type InferenceSettings = { readonly [S in SettingName]?: InferRequest[S] | undefined };

/**
 * The request of one inference. What changes least stands first (system, tools, then the conversation in its order), so
 * that consecutive requests of a conversation share their prefix to the byte.
 */
export function compileRequest(options: CompileOptions): InferRequest {
  checkOptionNames("compileRequest", options, { model: true, system: true, tools: true, messages: true, settings: true });
  const { model, system, tools, messages, settings } = options;
  return {
    ...definedOptions(settings ?? {}),
    model,
    ...(system !== undefined && system !== "" && { system }),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    messages,
  };
}
