import type { Content, Message, ToolInference, ToolInferenceAnswer, StopReason } from "@keelson/protocol";
import { UNKNOWN_USAGE } from "@keelson/protocol";

interface SamplingContent {
  readonly type: "text" | "image" | "audio";
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
}

/** A request to a model as the protocol has it. */
export interface SamplingRequest {
  readonly messages: { readonly role: "user" | "assistant"; readonly content: SamplingContent }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: string[];
}

/** Each part goes as a message of its own, since a message holds one. What only our wires know is left out. */
export function samplingRequest(request: ToolInference): SamplingRequest {
  return {
    messages: request.messages.flatMap(sampledMessages),
    maxTokens: request.maxTokens,
    ...(request.system !== undefined && { systemPrompt: request.system }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.stopSequences !== undefined && { stopSequences: [...request.stopSequences] }),
  };
}

function sampledMessages(message: Message): SamplingRequest["messages"] {
  const role = message.role === "assistant" ? "assistant" : "user";
  return message.content.flatMap((part) => {
    const content = sampledPart(part);
    return content === undefined ? [] : [{ role, content }];
  });
}

function sampledPart(part: Content): SamplingContent | undefined {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image" && part.data !== undefined) return { type: "image", data: part.data, mimeType: part.mediaType };
  if (part.type === "file" && part.data !== undefined && part.mediaType.startsWith("audio/"))
    return { type: "audio", data: part.data, mimeType: part.mediaType };
  return undefined;
}

const STOP_REASONS: { readonly [reason: string]: StopReason } = {
  endTurn: "end-turn",
  maxTokens: "max-tokens",
  stopSequence: "stop-sequence",
  toolUse: "tool-use",
};

/** What came back for it. `undefined`: it is no response of a model. */
export function inferenceAnswer(response: unknown): ToolInferenceAnswer | undefined {
  if (typeof response !== "object" || response === null) return undefined;
  const { content, model, stopReason } = response as { content?: unknown; model?: unknown; stopReason?: unknown };
  const blocks = (Array.isArray(content) ? content : [content]) as readonly (SamplingContent | undefined)[];
  if (blocks.length === 0 || blocks.some((block) => typeof block?.type !== "string")) return undefined;
  return {
    type: "response",
    content: blocks.flatMap((block) => (block === undefined ? [] : givenPart(block))),
    model: typeof model === "string" ? model : "unknown",
    stopReason: (typeof stopReason === "string" ? STOP_REASONS[stopReason] : undefined) ?? "other",
    usage: UNKNOWN_USAGE,
  };
}

function givenPart({ type, text, data, mimeType }: SamplingContent): readonly Content[] {
  if (type === "text" && typeof text === "string") return [{ type, text }];
  if (typeof data !== "string" || typeof mimeType !== "string") return [];
  return [type === "image" ? { type, mediaType: mimeType, data } : { type: "file", mediaType: mimeType, data }];
}
