import type { InferOptions, InferRequest, ToolSchema } from "@keelson/protocol";
import { ConversationEncoder } from "../conversation-encoder.ts";
import { fitMessage } from "../fitting/fit-message.ts";
import { OLLAMA_RULES } from "../fitting/rules/ollama.ts";
import { isAssistantGroup, NOTHING_SAID, wireCallId } from "../history.ts";
import { jsonMembers, mergeExtra, toolsJson } from "../request-body.ts";
import { thinkingEffort } from "../thinking-effort.ts";
import type { Exactly } from "../wire-type.ts";
import { closeOllamaCalls, encodeOllamaGroup, type OllamaMessageOptions } from "./ollama-message.ts";
import type { OllamaModelOptions, OllamaParameters, OllamaThink, OllamaTool } from "./ollama-wire.ts";

export interface OllamaRequestOptions extends OllamaMessageOptions {
  readonly defaultModel: string;
  readonly contextLength: number | undefined;
  readonly keepAlive: string | number | undefined;
}

/** Encodes requests of `/api/chat`; the messages before the last group are kept as bytes. */
export class OllamaRequestEncoder {
  readonly #options: OllamaRequestOptions;
  readonly #messages: ConversationEncoder;

  constructor(options: OllamaRequestOptions) {
    this.#options = options;
    this.#messages = new ConversationEncoder(
      (group, before, model) => encodeOllamaGroup(group, before, model, options),
      1,
      (call) => wireCallId(call, options.wire),
      (message) => fitMessage(message, OLLAMA_RULES),
    );
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const { tools: extraTools, messages: extraMessages, ...extra } = request.extra ?? {};
    let head = `{${jsonMembers(mergeExtra(this.#parameters(request, model), extra))}`;
    const own = toolsJson(offeredTools(request).map(functionTool));
    const more = Array.isArray(extraTools) ? JSON.stringify(extraTools).slice(1, -1) : "";
    if (own !== "" || more !== "") head += `,"tools":[${[own, more].filter((json) => json !== "").join(",")}]`;
    if (extraMessages !== undefined) return [Buffer.from(`${head},"messages":${JSON.stringify(extraMessages)}}`)];

    const system = request.system ?? "";
    head += `,"messages":[`;
    if (system !== "") head += `{"role":"system","content":${JSON.stringify(system)}}`;
    const { prefix, tail } = this.#messages.encode(request.messages, model, options.conversation);
    const pieces = tail.map(({ json }) => json);
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeOllamaCalls(lastGroup, this.#options));
    let last = pieces.filter((json) => json !== "").join(",");
    if (last === "" && prefix.length === 0 && request.messages.length > 0) last = JSON.stringify({ role: "user", content: NOTHING_SAID });
    if (prefix.length === 0) return [Buffer.from(`${head}${system !== "" && last !== "" ? "," : ""}${last}]}`)];
    return [Buffer.from(head), system === "" ? prefix.subarray(1) : prefix, Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  #parameters(request: InferRequest, model: string): OllamaParameters {
    const { contextLength, keepAlive } = this.#options;
    const options = {
      ...(contextLength !== undefined && { num_ctx: contextLength }),
      ...(request.maxTokens !== undefined && { num_predict: request.maxTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { top_p: request.topP }),
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stop: request.stopSequences }),
    } satisfies OllamaModelOptions;
    const think = thinkOf(request, model);
    const parameters = {
      model,
      stream: true,
      ...(Object.keys(options).length > 0 && { options: options satisfies Exactly<typeof options, OllamaModelOptions> }),
      ...(think !== undefined && { think }),
      ...(request.output !== undefined && { format: request.output.schema }),
      ...(keepAlive !== undefined && { keep_alive: keepAlive }),
    } satisfies OllamaParameters;
    return parameters satisfies Exactly<typeof parameters, OllamaParameters>;
  }
}

function functionTool({ name, description, inputSchema }: ToolSchema): OllamaTool {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

/** The server knows no choice among tools, so that those that are not to be called are not offered. */
function offeredTools({ tools = [], toolChoice }: InferRequest): readonly ToolSchema[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter((tool) => tool.name === toolChoice.name) : tools;
}

/** Only gpt-oss knows levels, and models that cannot think refuse to be asked: an effort alone asks no other model to think. */
function thinkOf({ thinking, effort }: InferRequest, model: string): OllamaThink | undefined {
  if (/gpt-oss/.test(model)) {
    const level = thinkingEffort({ thinking, effort });
    if (level !== undefined) return level === "max" ? "high" : level;
    return thinking === undefined ? undefined : "low";
  }
  return thinking === undefined ? undefined : thinking.type !== "disabled";
}
