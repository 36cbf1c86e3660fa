import type { InferOptions, InferRequest, JsonValue, ToolSchema } from "@keelson/protocol";
import { ConversationEncoder } from "../conversation-encoder.ts";
import { fitMessage } from "../fitting/fit-message.ts";
import { GEMINI_RULES } from "../fitting/rules/gemini.ts";
import { isAssistantGroup, wireCallId } from "../history.ts";
import { jsonMembers, mergeExtra, toolsJson } from "../request-body.ts";
import type { Exactly } from "../wire-type.ts";
import {
  closeGeminiCalls,
  encodeGeminiGroup,
  type GeminiMessageOptions,
  geminiOpening,
  geminiPlaceholder,
  MODEL_CONTENT,
} from "./gemini-message.ts";
import { geminiGeneration, thinkingConfig } from "./gemini-thinking.ts";
import type { GeminiFunction, GeminiGenerationConfig, GeminiParameters, GeminiToolConfig } from "./gemini-wire.ts";
import { lowerGeminiSchema } from "./lower-schema.ts";

export interface GeminiRequestOptions extends GeminiMessageOptions {
  readonly defaultModel: string;
}

/** Encodes requests of `generateContent`; the contents before the last group are kept as bytes. */
export class GeminiRequestEncoder {
  readonly #options: GeminiRequestOptions;
  readonly #contents: ConversationEncoder;

  constructor(options: GeminiRequestOptions) {
    this.#options = options;
    this.#contents = new ConversationEncoder(
      (group, before, model) => encodeGeminiGroup(group, before, model, options),
      1,
      (call) => wireCallId(call, options.wire),
      (message) => fitMessage(message, GEMINI_RULES),
    );
  }

  /** The body, in parts that follow each other. */
  encode(request: InferRequest, options: InferOptions): readonly Uint8Array[] {
    const model = request.model || this.#options.defaultModel;
    const { tools: extraTools, contents: extraContents, ...extra } = request.extra ?? {};
    const members = jsonMembers(mergeExtra(this.#parameters(request, model), extra));
    const tools = this.#toolMembers(request, extraTools);
    let head = `{${[members, tools].filter((json) => json !== "").join(",")}`;
    head += `${head === "{" ? "" : ","}"contents":`;
    if (extraContents !== undefined) return [Buffer.from(`${head}${JSON.stringify(extraContents)}}`)];

    const { prefix, tail } = this.#contents.encode(request.messages, model, options.conversation);
    const pieces = tail.map(({ json }) => json);
    const lastGroup = tail.at(-1)?.group;
    if (lastGroup !== undefined && isAssistantGroup(lastGroup)) pieces.push(closeGeminiCalls(lastGroup, this.#options));
    let last = pieces.filter((json) => json !== "").join(",");
    if (last === "" && prefix.length === 0 && request.messages.length > 0) last = geminiPlaceholder();
    const beginning = prefix.length > 0 ? Buffer.from(prefix.subarray(1, 1 + MODEL_CONTENT.length)).toString() : last;
    head += beginning.startsWith(MODEL_CONTENT) ? `[${geminiOpening()},` : "[";
    if (prefix.length === 0) return [Buffer.from(`${head}${last}]}`)];
    return [Buffer.from(head), prefix.subarray(1), Buffer.from(`${last === "" ? "" : `,${last}`}]}`)];
  }

  /** Functions make one entry of the tools; the vendor's own tools come as entries of `extra`. */
  #toolMembers(request: InferRequest, extraTools: JsonValue | undefined): string {
    const own = toolsJson((request.tools ?? []).map(functionDeclaration));
    const entries = own === "" ? [] : [`{"functionDeclarations":[${own}]}`];
    if (Array.isArray(extraTools) && extraTools.length > 0) entries.push(JSON.stringify(extraTools).slice(1, -1));
    return entries.length === 0 ? "" : `"tools":[${entries.join(",")}]`;
  }

  #parameters(request: InferRequest, model: string): GeminiParameters {
    const thinking = thinkingConfig(request, model);
    const schema = request.output === undefined ? undefined : lowerGeminiSchema(request.output.schema, { ordered: true });
    // Models before Gemini 3 refuse a response schema beside functions: the schema is told them in words.
    const inWords = schema !== undefined && hasTools(request) && geminiGeneration(model) < 3;
    const system = [
      request.system ?? "",
      inWords ? `When you give your final answer, give JSON that fits this schema, and nothing else: ${JSON.stringify(schema)}` : "",
    ];
    const instruction = system.filter((text) => text !== "").join("\n\n");
    const generationConfig = {
      ...(request.maxTokens !== undefined && { maxOutputTokens: request.maxTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { topP: request.topP }),
      ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stopSequences: request.stopSequences }),
      ...(thinking !== undefined && { thinkingConfig: thinking }),
      ...(schema !== undefined && !inWords && { responseMimeType: "application/json", responseSchema: schema }),
    } satisfies GeminiGenerationConfig;
    const parameters = {
      ...(instruction !== "" && { systemInstruction: { parts: [{ text: instruction }] } }),
      ...(Object.keys(generationConfig).length > 0 && {
        generationConfig: generationConfig satisfies Exactly<typeof generationConfig, GeminiGenerationConfig>,
      }),
      // A choice among no tools is an error.
      ...(request.toolChoice !== undefined && hasTools(request) && { toolConfig: toolConfig(request.toolChoice) }),
    } satisfies GeminiParameters;
    return parameters satisfies Exactly<typeof parameters, GeminiParameters>;
  }
}

function functionDeclaration({ name, description, inputSchema }: ToolSchema): GeminiFunction {
  return { name, description, parameters: lowerGeminiSchema(inputSchema) };
}

function hasTools(request: InferRequest): boolean {
  return (request.tools?.length ?? 0) > 0 || request.extra?.["tools"] !== undefined;
}

const MODES = { auto: "AUTO", none: "NONE", required: "ANY" } as const;

function toolConfig(choice: NonNullable<InferRequest["toolChoice"]>): GeminiToolConfig {
  if (typeof choice === "object") return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [choice.name] } };
  return { functionCallingConfig: { mode: MODES[choice] } };
}
