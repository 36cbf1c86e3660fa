import type { Content, FilePart, ImagePart, JsonObject, Message, ToolCallPart, ToolResultPart } from "@keelson/protocol";
import { callObject } from "../call-arguments.ts";
import {
  belongsTo,
  EARLIER_NOT_SHOWN,
  isAssistantGroup,
  isBlank,
  matchResults,
  type MessageGroup,
  NOTHING_SAID,
  outputParts,
  outputText,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  unresolvedBlob,
  withBytes,
} from "../history.ts";
import { textOfFile } from "../request-body.ts";
import { echo } from "../wire-type.ts";
import { geminiGeneration } from "./gemini-thinking.ts";
import type { GeminiCall, GeminiContent, GeminiMedia, GeminiPart, GeminiResult, GeminiText } from "./gemini-wire.ts";

export interface GeminiMessageOptions {
  readonly wire: string;
  readonly provider: string;
}

/**
 * Gemini 3 refuses a turn whose first call has no signature. Google names this value for calls that another model made
 * (ai.google.dev, "Thought signatures").
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** One group as contents, joined by commas; "" when nothing of it can be sent. */
export function encodeGeminiGroup(
  group: MessageGroup,
  before: MessageGroup | undefined,
  model: string,
  options: GeminiMessageOptions,
): string {
  if (!isAssistantGroup(group)) return userContents(group, before, options);
  const parts = group.flatMap((message) => message.content.flatMap((part) => modelPart(part, model, options)));
  if (geminiGeneration(model) >= 3) signFirstCall(parts);
  return parts.length === 0 ? "" : contentJson("model", parts);
}

/** The results of calls that end a conversation; "" when there are none. */
export function closeGeminiCalls(last: MessageGroup, options: GeminiMessageOptions): string {
  return userContents([], last, options);
}

/** What a conversation begins with whose first turn is the model's: the API wants calls right after a user's turn. */
export function geminiOpening(): string {
  return contentJson("user", [{ text: EARLIER_NOT_SHOWN }]);
}

/** A conversation that is not empty, though nothing of it can be sent. */
export function geminiPlaceholder(): string {
  return contentJson("user", [{ text: NOTHING_SAID }]);
}

/** What the contents of the model begin with. */
export const MODEL_CONTENT = `{"role":"model"`;

function contentJson(role: GeminiContent["role"], parts: readonly GeminiPart[]): string {
  return JSON.stringify({ role, parts } satisfies GeminiContent);
}

/** Results make a content of their own, as many as there were calls: mixed with other parts, they are not counted right. */
function userContents(group: readonly Message[], before: MessageGroup | undefined, options: GeminiMessageOptions): string {
  const { matched, strays } = matchResults(before, group);
  const results = matched.map(({ call, result }) => responsePart(call, result, options));
  const others: GeminiPart[] = matched.flatMap(({ result }) => (result === undefined ? [] : mediaOf(result, options)));
  others.push(...strays.map((stray) => ({ text: strayResultText(stray) })));
  for (const message of group) {
    for (const part of message.content) {
      if (message.role !== "system") others.push(...userPart(part, options));
      // The API knows no system message within a conversation.
      else if (part.type === "text" && !isBlank(part.text)) others.push({ text: `<system-reminder>\n${part.text}\n</system-reminder>` });
    }
  }
  return [results, others]
    .filter((parts) => parts.length > 0)
    .map((parts) => contentJson("user", parts))
    .join(",");
}

function userPart(part: Content, options: GeminiMessageOptions): readonly GeminiPart[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ text: part.text }];
    case "image":
    case "file":
      return [mediaPart(part, options)];
    case "server-tool":
      return isBlank(part.text) ? [] : [{ text: `[${part.name}] ${part.text}` }];
    case "other":
      return part.providerData?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "thinking":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

function modelPart(part: Content, model: string, options: GeminiMessageOptions): readonly GeminiPart[] {
  switch (part.type) {
    case "text": {
      const signature = signatureOf(part, model, options);
      return part.text === "" && signature === undefined ? [] : [{ text: part.text, ...signature }];
    }
    case "thinking": {
      // A summary of thoughts without its signature says nothing to the model.
      const signature = signatureOf(part, model, options);
      return signature === undefined ? [] : [{ text: part.text, thought: true, ...signature }];
    }
    case "tool-call":
      return [callPart(part, model, options)];
    case "server-tool":
      if (part.providerData.wire === options.wire && part.providerData["part"] !== undefined) return [echo(part.providerData["part"])];
      return isBlank(part.text) ? [] : [{ text: `[${part.name}] ${part.text}` }];
    case "image":
    case "file":
      return [{ ...mediaPart(part, options), ...signatureOf(part, model, options) }];
    case "other":
      return part.providerData?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "refusal":
      return part.text === "" ? [] : [{ text: part.text }];
    case "tool-result":
      return [];
  }
}

function words(part: Content): readonly GeminiText[] {
  const text = readableText(part);
  return text === "" ? [] : [{ text }];
}

function signatureOf(
  part: { readonly providerData?: Parameters<typeof belongsTo>[0] },
  model: string,
  { wire }: GeminiMessageOptions,
): { readonly thoughtSignature: string } | undefined {
  if (!belongsTo(part.providerData, wire, model)) return undefined;
  const signature = part.providerData["thoughtSignature"];
  return typeof signature === "string" ? { thoughtSignature: signature } : undefined;
}

function callPart(call: ToolCallPart, model: string, options: GeminiMessageOptions): GeminiCall {
  return { functionCall: { ...idOf(call, options), name: call.name, args: callObject(call) }, ...signatureOf(call, model, options) };
}

/** Only newer models give ids; without one, calls and results are matched by their order. */
function idOf(call: ToolCallPart, { wire }: GeminiMessageOptions): { readonly id?: string } {
  const id = call.providerData?.wire === wire ? call.providerData["id"] : undefined;
  return typeof id === "string" ? { id } : {};
}

function signFirstCall(parts: GeminiPart[]): void {
  const at = parts.findIndex((part) => "functionCall" in part);
  const first = parts[at];
  if (first !== undefined && !("thoughtSignature" in first)) parts[at] = { ...first, thoughtSignature: NO_SIGNATURE };
}

function responsePart(call: ToolCallPart, result: ToolResultPart | undefined, options: GeminiMessageOptions): GeminiResult {
  return { functionResponse: { ...idOf(call, options), name: call.name, response: responseOf(result) } };
}

/** Always an object: the API reads `output` and `error` out of it. */
function responseOf(result: ToolResultPart | undefined): JsonObject {
  if (result === undefined) return { error: NOT_EXECUTED };
  const output = outputParts(result.output) === undefined ? result.output : outputText(result.output);
  return result.isError === true ? { error: output } : { output };
}

/** What a result shows beside text follows in the user's content, since older models take no media within results. */
function mediaOf(result: ToolResultPart, options: GeminiMessageOptions): readonly GeminiPart[] {
  const media = (outputParts(result.output) ?? []).filter((part) => part.type === "image" || part.type === "file");
  if (media.length === 0) return [];
  return [{ text: `From the result of ${result.name}:` }, ...media.map((part) => mediaPart(part, options))];
}

function mediaPart(given: ImagePart | FilePart, { wire, provider }: GeminiMessageOptions): GeminiMedia {
  const part = withBytes(given);
  const fileUri = part.providerData?.wire === wire ? part.providerData["fileUri"] : undefined;
  if (typeof fileUri === "string") return { fileData: { mimeType: part.mediaType, fileUri } };
  const text = part.type === "file" ? textOfFile(part.mediaType, part.data) : undefined;
  if (text !== undefined) return { text: part.type === "file" && part.name !== undefined ? `${part.name}:\n${text}` : text };
  if (part.data !== undefined) return { inlineData: { mimeType: part.mediaType, data: part.data } };
  if (part.url !== undefined) return { fileData: { mimeType: part.mediaType, fileUri: part.url } };
  throw unresolvedBlob(part, provider);
}
