import type { InferOptions, InferRequest, JsonObject, ToolSchema } from "@keelson/protocol";
import { ConversationEncoder } from "../conversation-encoder.ts";
import { fitMessage } from "../fitting/fit-message.ts";
import { OPENAI_RULES } from "../fitting/rules/openai.ts";
import type { WireRules } from "../fitting/wire-rules.ts";
import { isAssistantGroup, NOTHING_SAID, wireCallId } from "../history.ts";
import { reasoningEffort } from "../reasoning-effort.ts";
import { jsonMembers, mergeExtra, toolsJson } from "../request-body.ts";
import { strictSchema } from "../strict-schema.ts";
import type { Exactly } from "../wire-type.ts";
import { closeChatCalls, type ChatMessageOptions, encodeChatGroup } from "./chat-message.ts";
import type { ChatParameters, ChatTool } from "./chat-wire.ts";

/** How a server of this wire wants to be told what OpenAI is told otherwise. None of it may depend on the messages. */
export interface ChatDialect {
  /** The parameters of a request, made of those that OpenAI would get. */
  parameters(standard: JsonObject, request: InferRequest, model: string): JsonObject;
  /** What is said in words, after the system prompt, since no parameter says it; "" when there is nothing. */
  instructions(request: InferRequest): string;
}

export interface ChatRequestOptions extends Omit<ChatMessageOptions, "callId"> {
  /** Default: a call has its id on this wire. */
  readonly callId?: ChatMessageOptions["callId"];
  readonly dialect?: ChatDialect;
  /** The names and schemas that the server accepts. Default: those that OpenAI accepts. */
  readonly rules?: WireRules;
  readonly defaultModel: string;
  /** What the server calls the limit of the response. OpenAI's reasoning models take the first only, older servers the second only. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
}

/** Encodes requests of the chat wire; the messages before the last group are kept as bytes. */
export class ChatRequestEncoder {
  readonly #options: ChatRequestOptions & ChatMessageOptions;
  readonly #messages: ConversationEncoder;

  constructor(options: ChatRequestOptions) {
    const callId = options.callId ?? ((call) => wireCallId(call, options.wire));
    const settled = { ...options, callId };
    this.#options = settled;
    this.#messages = new ConversationEncoder(
      (group, before, model) => encodeChatGroup(group, before, model, settled),
      1,
      callId,
      (message) => fitMessage(message, options.rules ?? OPENAI_RULES),
    );
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const extraMessages = request.extra?.["messages"];
    const opening = this.#opening(request, model);
    if (extraMessages !== undefined) return [Buffer.from(`${opening},"messages":${JSON.stringify(extraMessages)}}`)];

    const system = joined(request.system ?? "", this.#options.dialect?.instructions(request) ?? "", "\n\n");
    const head = `${opening},"messages":[`;
    const first = system === "" ? "" : JSON.stringify({ role: "system", content: system });
    const { prefix, tail } = this.#messages.encode(request.messages, model, options.conversation);
    const pieces = tail.map(({ json }) => json);
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeChatCalls(lastGroup, this.#options));
    let last = pieces.filter((json) => json !== "").join(",");
    if (last === "" && prefix.length === 0 && request.messages.length > 0) last = JSON.stringify({ role: "user", content: NOTHING_SAID });
    if (prefix.length === 0) return [Buffer.from(`${head}${joined(first, last)}]}`)];
    return [Buffer.from(head + first), first === "" ? prefix.subarray(1) : prefix, Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  /** The body up to its messages, with no brace at its end. */
  #opening(request: InferRequest, model: string): string {
    const { tools: extraTools, messages: _, ...extra } = request.extra ?? {};
    const { dialect } = this.#options;
    const standard = this.#parameters(request, model);
    const parameters = mergeExtra(dialect === undefined ? standard : dialect.parameters(standard, request, model), extra);
    const tools = joined(
      toolsJson((request.tools ?? []).map(chatTool)),
      Array.isArray(extraTools) ? JSON.stringify(extraTools).slice(1, -1) : "",
    );
    return `{${jsonMembers(parameters)}${tools === "" ? "" : `,"tools":[${tools}]`}`;
  }

  #parameters(request: InferRequest, model: string): ChatParameters {
    const effort = reasoningEffort(request, model);
    const strict = request.output === undefined ? undefined : strictSchema(request.output.schema);
    const parameters = {
      model,
      stream: true,
      // The API refuses them where nothing is streamed.
      ...(request.extra?.["stream"] !== false && { stream_options: { include_usage: true } }),
      ...(request.maxTokens !== undefined && this.#limit(request.maxTokens)),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { top_p: request.topP }),
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stop: request.stopSequences }),
      ...(effort !== undefined && { reasoning_effort: effort }),
      ...(request.output !== undefined && {
        response_format: {
          type: "json_schema",
          json_schema: { name: request.output.name, schema: strict ?? request.output.schema, strict: strict !== undefined },
        },
      }),
      // A choice among no tools is an error.
      ...(request.toolChoice !== undefined &&
        ((request.tools?.length ?? 0) > 0 || request.extra?.["tools"] !== undefined) && {
          tool_choice:
            typeof request.toolChoice === "object" ? { type: "function", function: { name: request.toolChoice.name } } : request.toolChoice,
        }),
    } satisfies ChatParameters;
    return parameters satisfies Exactly<typeof parameters, ChatParameters>;
  }

  #limit(tokens: number): Pick<ChatParameters, "max_tokens" | "max_completion_tokens"> {
    return this.#options.maxTokensField === "max_tokens" ? { max_tokens: tokens } : { max_completion_tokens: tokens };
  }
}

function chatTool({ name, description, inputSchema }: ToolSchema): ChatTool {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

function joined(a: string, b: string, separator = ","): string {
  return a === "" || b === "" ? a + b : a + separator + b;
}
