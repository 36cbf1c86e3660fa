import type { InferOptions, InferRequest, JsonObject, JsonValue } from "@keelson/protocol";
import { ConversationEncoder } from "../conversation-encoder.ts";
import { isAssistantGroup } from "../history.ts";
import { jsonMembers, mergeExtra, ToolEncoder } from "../request-body.ts";
import { closeChatCalls, type ChatMessageOptions, encodeChatGroup } from "./chat-message.ts";

export interface ChatRequestOptions extends ChatMessageOptions {
  readonly defaultModel: string;
  /** What the server calls the limit of the answer. OpenAI's reasoning models take the first only, older servers the second only. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
}

/** Encodes requests of the chat wire; the messages before the last group are kept as bytes. */
export class ChatRequestEncoder {
  readonly #options: ChatRequestOptions;
  readonly #tools = new ToolEncoder((tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  readonly #messages: ConversationEncoder;

  constructor(options: ChatRequestOptions) {
    this.#options = options;
    this.#messages = new ConversationEncoder((group, before) => encodeChatGroup(group, before, options), 1);
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const { tools: extraTools, messages: extraMessages, ...extra } = request.extra ?? {};
    let head = `{${jsonMembers(mergeExtra(this.#parameters(request, model), extra))}`;
    const own = this.#tools.json(request.tools ?? []);
    const more = Array.isArray(extraTools) ? JSON.stringify(extraTools).slice(1, -1) : "";
    if (own !== "" || more !== "") head += `,"tools":[${[own, more].filter((json) => json !== "").join(",")}]`;
    if (extraMessages !== undefined) return [Buffer.from(`${head},"messages":${JSON.stringify(extraMessages)}}`)];

    const system = request.system ?? "";
    head += `,"messages":[`;
    if (system !== "") head += `{"role":"system","content":${JSON.stringify(system)}}`;
    const { prefix, tail } = this.#messages.encode(request.messages, model, options.conversation);
    const pieces = tail.map(({ json }) => json);
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeChatCalls(lastGroup, this.#options));
    const last = pieces.filter((json) => json !== "").join(",");
    if (prefix.length === 0) return [Buffer.from(`${head}${system !== "" && last !== "" ? "," : ""}${last}]}`)];
    return [Buffer.from(head), system === "" ? prefix.subarray(1) : prefix, Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  #parameters(request: InferRequest, model: string): JsonObject {
    const effort = reasoningEffort(request, model);
    return {
      model,
      stream: true,
      stream_options: { include_usage: true },
      ...(request.maxTokens !== undefined && { [this.#options.maxTokensField]: request.maxTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { top_p: request.topP }),
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stop: request.stopSequences }),
      ...(effort !== undefined && { reasoning_effort: effort }),
      ...(request.output !== undefined && {
        response_format: {
          type: "json_schema",
          json_schema: { name: request.output.name, schema: request.output.schema, strict: isStrict(request.output.schema) },
        },
      }),
      // A choice among no tools is an error.
      ...(request.toolChoice !== undefined &&
        ((request.tools?.length ?? 0) > 0 || request.extra?.["tools"] !== undefined) && {
          tool_choice:
            typeof request.toolChoice === "object" ? { type: "function", function: { name: request.toolChoice.name } } : request.toolChoice,
        }),
    };
  }
}

/** Models from GPT-5.1 on can leave reasoning out; those from 5.2 on have a level above `high`. */
function reasoningEffort({ effort, thinking }: InferRequest, model: string): string | undefined {
  const version = Number(/gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Number.NaN);
  if (effort === undefined) return thinking?.type === "disabled" && version >= 5.1 ? "none" : undefined;
  return effort === "max" ? (version >= 5.2 ? "xhigh" : "high") : effort;
}

/** Whether the vendor's strict mode takes this schema: every object closed, every member required. */
export function isStrict(schema: JsonValue | undefined): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  if (Array.isArray(schema)) return schema.every(isStrict);
  const { type, properties, additionalProperties, required, ...rest } = schema as JsonObject;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as JsonObject);
    const all = new Set(Array.isArray(required) ? (required as readonly JsonValue[]) : []);
    if (additionalProperties !== false || !names.every((name) => all.has(name))) return false;
  }
  return Object.values((properties ?? {}) as JsonObject).every(isStrict) && Object.values(rest).every(isStrict);
}
