import type { InferOptions, InferRequest, JsonObject, JsonValue, ToolSchema } from "@keelson/protocol";
import { ConversationEncoder } from "../conversation-encoder.ts";
import { fitMessage } from "../fitting/fit-message.ts";
import { OPENAI_RULES } from "../fitting/rules/openai.ts";
import { isAssistantGroup, NOTHING_SAID } from "../history.ts";
import { reasoningEffort } from "../reasoning-effort.ts";
import { jsonMembers, mergeExtra, toolsJson } from "../request-body.ts";
import { strictSchema } from "../strict-schema.ts";
import type { Exactly } from "../wire-type.ts";
import type { ResponsesMessageOptions } from "./responses-input.ts";
import { closeResponsesCalls, encodeResponsesGroup, responsesCallId } from "./responses-message.ts";
import type { ResponsesIncluded, ResponsesParameters, ResponsesReasoning, ResponsesTool } from "./responses-wire.ts";

export interface ResponsesRequestOptions extends ResponsesMessageOptions {
  readonly defaultModel: string;
}

const ENCRYPTED_REASONING = "reasoning.encrypted_content";
/** OpenAI's models that do not reason refuse a wish for encrypted reasoning. */
const NO_REASONING = /(?:^|\/)(?:gpt-[34]|chatgpt-|gpt-.*-chat)/;

/**
 * Encodes requests of the Responses API; the messages before the last group are kept as bytes. Nothing is left with the vendor
 * (`store: false`): what he must know again, encrypted reasoning too, goes back with each request.
 */
export class ResponsesRequestEncoder {
  readonly #options: ResponsesRequestOptions;
  readonly #messages: ConversationEncoder;

  constructor(options: ResponsesRequestOptions) {
    this.#options = options;
    this.#messages = new ConversationEncoder(
      (group, before, model) => encodeResponsesGroup(group, before, model, options),
      1,
      (call) => responsesCallId(call, options),
      (message) => fitMessage(message, OPENAI_RULES),
    );
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const { tools: extraTools, input: extraInput, include: extraInclude, ...extra } = request.extra ?? {};
    const parameters = { ...mergeExtra(this.#parameters(request, model), extra), ...(included(model, extraInclude) as JsonObject) };
    let head = `{${jsonMembers(parameters)}`;
    const own = toolsJson((request.tools ?? []).map(functionTool));
    const more = Array.isArray(extraTools) ? JSON.stringify(extraTools).slice(1, -1) : "";
    if (own !== "" || more !== "") head += `,"tools":[${[own, more].filter((json) => json !== "").join(",")}]`;
    if (extraInput !== undefined) return [Buffer.from(`${head},"input":${JSON.stringify(extraInput)}}`)];

    head += `,"input":[`;
    const { prefix, tail } = this.#messages.encode(request.messages, model, options.conversation);
    const pieces = tail.map(({ json }) => json);
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeResponsesCalls(lastGroup, model, this.#options));
    let last = pieces.filter((json) => json !== "").join(",");
    if (last === "" && prefix.length === 0 && request.messages.length > 0) last = JSON.stringify({ role: "user", content: NOTHING_SAID });
    if (prefix.length === 0) return [Buffer.from(`${head}${last}]}`)];
    return [Buffer.from(head), prefix.subarray(1), Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  #parameters(request: InferRequest, model: string): ResponsesParameters {
    const { output, thinking, toolChoice } = request;
    const effort = reasoningEffort(request, model);
    const reasoning = {
      ...(effort !== undefined && { effort }),
      // Vendors show summaries to those who ask, and OpenAI to verified organisations only.
      ...(thinking !== undefined && thinking.type !== "disabled" && { summary: "auto" }),
    } satisfies ResponsesReasoning;
    const parameters = {
      model,
      stream: true,
      store: false,
      ...(request.system !== undefined && request.system !== "" && { instructions: request.system }),
      ...(request.maxTokens !== undefined && { max_output_tokens: request.maxTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { top_p: request.topP }),
      // OpenAI knows no stop sequences here and says so; other servers of this wire do.
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stop: request.stopSequences }),
      ...(Object.keys(reasoning).length > 0 && { reasoning: reasoning satisfies Exactly<typeof reasoning, ResponsesReasoning> }),
      ...(output !== undefined && { text: { format: { type: "json_schema", name: output.name, ...strictness(output.schema) } } }),
      // A choice among no tools is an error.
      ...(toolChoice !== undefined &&
        ((request.tools?.length ?? 0) > 0 || request.extra?.["tools"] !== undefined) && {
          tool_choice: typeof toolChoice === "object" ? { type: "function", name: toolChoice.name } : toolChoice,
        }),
    } satisfies ResponsesParameters;
    return parameters satisfies Exactly<typeof parameters, ResponsesParameters>;
  }
}

function functionTool({ name, description, inputSchema }: ToolSchema): ResponsesTool {
  const { schema, strict } = strictness(inputSchema);
  return { type: "function", name, description, parameters: schema, strict };
}

/** The API takes a schema as strict unless it is told otherwise. */
function strictness(schema: JsonObject): { readonly schema: JsonObject; readonly strict: boolean } {
  const strict = strictSchema(schema);
  return { schema: strict ?? schema, strict: strict !== undefined };
}

function included(model: string, extra: JsonValue | undefined): ResponsesIncluded {
  const more: readonly JsonValue[] = Array.isArray(extra) ? extra : [];
  const include = NO_REASONING.test(model) ? more : [...new Set<JsonValue>([ENCRYPTED_REASONING, ...more])];
  return include.length === 0 ? {} : { include: include as NonNullable<ResponsesIncluded["include"]> };
}
