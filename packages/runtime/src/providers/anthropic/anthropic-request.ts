import type { InferOptions, InferRequest, ToolSchema } from "@keelson/protocol";
import { ConversationEncoder, type EncodedMessages } from "../conversation-encoder.ts";
import { fitMessage } from "../fitting/fit-message.ts";
import { ANTHROPIC_RULES } from "../fitting/rules/anthropic.ts";
import { isAssistantGroup, wireCallId } from "../history.ts";
import { jsonMembers, mergeExtra, toolsJson } from "../request-body.ts";
import type { Exactly } from "../wire-type.ts";
import {
  anthropicOpening,
  anthropicPlaceholder,
  closeAnthropicCalls,
  type AnthropicMessageOptions,
  encodeAnthropicGroup,
} from "./anthropic-message.ts";
import type { AnthropicOutputConfig, AnthropicParameters, AnthropicTool, AnthropicToolChoice } from "./anthropic-wire.ts";

export interface AnthropicRequestOptions extends AnthropicMessageOptions {
  readonly defaultModel: string;
  readonly defaultMaxTokens: number;
}

const CACHE_MARK = `"cache_control":{"type":"ephemeral"}`;
const ASSISTANT = `{"role":"assistant"`;
const THINKING = /^\{"role":"assistant","content":\[\{"type":"(?:redacted_)?thinking"/;
/** A user message ends with its last block, the content's bracket and its own brace. */
const MESSAGE_TAIL = "}]}";

/**
 * Encodes requests of the Messages API. The messages before the last two user turns are kept as bytes; the prompt-cache marks
 * stand on the end of the stable prefix and on those two turns, the earlier of which the vendor's cache already holds.
 */
export class AnthropicRequestEncoder {
  readonly #options: AnthropicRequestOptions;
  readonly #messages: ConversationEncoder;

  constructor(options: AnthropicRequestOptions) {
    this.#options = options;
    this.#messages = new ConversationEncoder(
      (group, before, model) => encodeAnthropicGroup(group, before, model, options),
      4,
      (call) => wireCallId(call, options.wire),
      (message) => fitMessage(message, ANTHROPIC_RULES),
    );
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const mark = request.cache !== "none";
    const { tools: extraTools, messages: extraMessages, system: extraSystem, ...extra } = request.extra ?? {};
    const messages = extraMessages === undefined ? this.#messages.encode(request.messages, model, options.conversation) : undefined;
    const thinks = messages === undefined || !lacksThinking(messages.tail);
    let head = `{${jsonMembers(mergeExtra(this.#parameters(request, model, thinks), extra))}`;

    const ownTools = request.tools ?? [];
    const moreTools = Array.isArray(extraTools) ? JSON.stringify(extraTools).slice(1, -1) : "";
    const system = request.system ?? "";
    if (ownTools.length > 0 || moreTools !== "") {
      const marked = mark && system === "" && moreTools === "" ? ownTools.length - 1 : undefined;
      const own = toolsJson(ownTools.map((tool, at) => anthropicTool(tool, at === marked)));
      head += `,"tools":[${[own, moreTools].filter((json) => json !== "").join(",")}]`;
    }
    if (extraSystem !== undefined) head += `,"system":${JSON.stringify(extraSystem)}`;
    else if (system !== "") head += `,"system":[{"type":"text","text":${JSON.stringify(system)}${mark ? `,${CACHE_MARK}` : ""}}]`;
    if (messages === undefined) return [Buffer.from(`${head},"messages":${JSON.stringify(extraMessages)}}`)];

    const { prefix, tail } = messages;
    let last = this.#tail(tail, mark, model);
    if (last === "" && prefix.length === 0 && request.messages.length > 0) last = anthropicPlaceholder();
    head += `,"messages":[`;
    const beginning = prefix.length > 0 ? Buffer.from(prefix.subarray(1, 1 + ASSISTANT.length)).toString() : last;
    if (beginning.startsWith(ASSISTANT)) head += `${anthropicOpening()},`;
    if (prefix.length === 0) return [Buffer.from(`${head}${last}]}`)];
    return [Buffer.from(head), prefix.subarray(1), Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  #tail(tail: EncodedMessages["tail"], mark: boolean, model: string): string {
    const pieces = tail.map(({ group, before, json }, at) => {
      const final = at === tail.length - 1;
      if (final && isAssistantGroup(group)) {
        // The API refuses a last turn that ends in blanks.
        return encodeAnthropicGroup(withoutTrailingBlanks(group), before, model, this.#options);
      }
      return json;
    });
    if (mark) {
      let marks = 2;
      for (let at = tail.length - 1; at >= 0 && marks > 0; at -= 1) {
        const json = pieces[at] as string;
        if (json === "" || isAssistantGroup(tail[at]?.group ?? [])) continue;
        pieces[at] = `${json.slice(0, -MESSAGE_TAIL.length)},${CACHE_MARK}${MESSAGE_TAIL}`;
        marks -= 1;
      }
    }
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeAnthropicCalls(lastGroup, this.#options));
    return pieces.filter((json) => json !== "").join(",");
  }

  #parameters(request: InferRequest, model: string, thinks: boolean): AnthropicParameters {
    const thinking = thinks || request.thinking?.type !== "enabled" ? request.thinking : undefined;
    const maxTokens =
      request.maxTokens ??
      (thinking?.type === "enabled" ? thinking.budgetTokens + this.#options.defaultMaxTokens : this.#options.defaultMaxTokens);
    const outputConfig = {
      ...(request.effort !== undefined && { effort: request.effort }),
      ...(request.output !== undefined && { format: { type: "json_schema", schema: request.output.schema } }),
    } satisfies AnthropicOutputConfig;
    const parameters = {
      model,
      max_tokens: maxTokens,
      stream: true,
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { top_p: request.topP }),
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stop_sequences: request.stopSequences }),
      ...(thinking !== undefined && {
        thinking: thinking.type === "enabled" ? { type: "enabled", budget_tokens: thinking.budgetTokens } : { type: thinking.type },
      }),
      ...(Object.keys(outputConfig).length > 0 && {
        output_config: outputConfig satisfies Exactly<typeof outputConfig, AnthropicOutputConfig>,
      }),
      ...(request.toolChoice !== undefined && hasTools(request) && { tool_choice: toolChoice(request.toolChoice) }),
    } satisfies AnthropicParameters;
    return parameters satisfies Exactly<typeof parameters, AnthropicParameters>;
  }
}

function anthropicTool({ name, description, inputSchema }: ToolSchema, isMarked: boolean): AnthropicTool {
  return { name, description, input_schema: inputSchema, ...(isMarked && { cache_control: { type: "ephemeral" } }) };
}

/**
 * Whether an open tool loop was begun without thinking of this model, by another one for example. The API refuses to think in
 * the middle of such a turn ("a final assistant message must start with a thinking block").
 */
function lacksThinking(tail: EncodedMessages["tail"]): boolean {
  const last = tail.at(-1);
  if (last === undefined || isAssistantGroup(last.group)) return false;
  return (
    last.before?.some((message) => message.content.some((part) => part.type === "tool-call")) === true &&
    !THINKING.test(tail.at(-2)?.json ?? "")
  );
}

/** A choice among no tools is an error. */
function hasTools(request: InferRequest): boolean {
  return (request.tools?.length ?? 0) > 0 || request.extra?.["tools"] !== undefined;
}

function toolChoice(choice: NonNullable<InferRequest["toolChoice"]>): AnthropicToolChoice {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}

function withoutTrailingBlanks(group: InferRequest["messages"]): InferRequest["messages"] {
  const message = group.at(-1);
  const part = message?.content.at(-1);
  if (message === undefined || part?.type !== "text" || part.text.trimEnd() === part.text) return group;
  return [...group.slice(0, -1), { ...message, content: [...message.content.slice(0, -1), { ...part, text: part.text.trimEnd() }] }];
}
