import {
  type Content,
  type FilePart,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  ModelError,
  type ProviderData,
  type ToolCallPart,
  type ToolResultPart,
} from "@keelson/protocol";
import { callsOf, isAssistantGroup, type MessageGroup } from "./history/message-group.ts";
import { modelFamily } from "./history/model-family.ts";

export { groupMessages, isAssistantGroup, type MessageGroup, withoutEmptyEnd } from "./history/message-group.ts";
export { isOwnCallId, wireCallId } from "./history/wire-call-id.ts";

/** Whether data belongs to this wire, and where it names a model, to this model under any of its names. */
export function belongsTo(data: ProviderData | undefined, wire: string, model: string): data is ProviderData {
  if (data === undefined || data.wire !== wire) return false;
  return data.model === undefined || data.model === model || modelFamily(data.model) === modelFamily(model);
}

export interface CallWithResult {
  readonly call: ToolCallPart;
  /** `undefined`: it has none. Vendors refuse such a history, so that it must be closed. */
  readonly result: ToolResultPart | undefined;
}

/** Brings the results in `group` to the calls before it. `strays` are results of calls that the request does not hold. */
export function matchResults(
  before: MessageGroup | undefined,
  group: MessageGroup,
): { readonly matched: readonly CallWithResult[]; readonly strays: readonly ToolResultPart[] } {
  const calls = before !== undefined && isAssistantGroup(before) ? callsOf(before) : [];
  // By the call's id; `undefined` until its result is found.
  const results = new Map<string, ToolResultPart | undefined>();
  for (const { id } of calls) results.set(id, undefined);
  const strays: ToolResultPart[] = [];
  for (const message of group) {
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      if (results.has(part.id) && results.get(part.id) === undefined) results.set(part.id, part);
      else strays.push(part);
    }
  }
  const matched: CallWithResult[] = [];
  for (const call of calls) matched.push({ call, result: results.get(call.id) });
  return { matched, strays };
}

export const NOT_EXECUTED = "This call was not executed.";
export const EARLIER_NOT_SHOWN = "(The beginning of the conversation is not shown.)";
/** Stands in for a conversation of which nothing can be sent, since every API wants a message. */
export const NOTHING_SAID = "(empty message)";

export function strayResultText(result: ToolResultPart): string {
  return `Result of an earlier call of ${result.name}: ${outputText(result.output)}`;
}

/** The parts of an output that is no plain JSON value. */
export function outputParts(output: JsonValue): readonly Content[] | undefined {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return undefined;
  const { type, content } = output as { type?: unknown; content?: unknown };
  return type === "content" && Array.isArray(content) ? (content as readonly Content[]) : undefined;
}

export function outputText(output: JsonValue): string {
  if (typeof output === "string") return output;
  const parts = outputParts(output);
  if (parts !== undefined)
    return parts
      .map(readableText)
      .filter((text) => text !== "")
      .join("\n");
  return JSON.stringify(output);
}

/** A part in words, for places that take nothing else. */
export function readableText(part: Content): string {
  switch (part.type) {
    case "text":
    case "refusal":
    case "server-tool":
      return part.text;
    case "image":
    case "file":
      return mediaText(part);
    case "tool-result":
      return outputText(part.output);
    case "other":
      return wordsIn(part.raw);
    case "thinking":
    case "tool-call":
      return "";
  }
}

/** Tells of an image or a file that cannot be shown. */
export function mediaText(part: ImagePart | FilePart): string {
  const name = part.type === "file" && part.name !== undefined ? ` ${part.name}` : "";
  return `[${part.type}${name}${part.url === undefined || part.url.startsWith("data:") ? "" : ` at ${part.url}`}]`;
}

/** The text of a part that only another vendor knows: what his summary says outlives the switch to another model. */
function wordsIn(raw: JsonValue | undefined): string {
  if (typeof raw === "string") return raw;
  if (Array.isArray(raw))
    return (raw as readonly JsonValue[])
      .map(wordsIn)
      .filter((text) => text !== "")
      .join("\n");
  if (typeof raw !== "object" || raw === null) return "";
  const { text, content } = raw as { text?: JsonValue; content?: JsonValue };
  return typeof text === "string" ? text : wordsIn(content);
}

/** What a call was made with, for wires whose calls take objects only. Free text and other values stand in a member. */
export function objectInput(call: ToolCallPart): JsonObject {
  const { input } = call;
  if (input === undefined) return call.custom === true ? { input: call.inputText } : {};
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as JsonObject) : { input };
}

/** Whether a call is one of this wire's own free-text calls: other wires, and servers that know no such tools, get an object. */
export function isFreeText(call: ToolCallPart, wire: string): boolean {
  return call.custom === true && call.providerData?.wire === wire;
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** The part with the bytes that a `data:` address holds, which servers take in places of their own only. */
export function withBytes<T extends ImagePart | FilePart>(part: T): T {
  if (part.data !== undefined || part.url?.startsWith("data:") !== true) return part;
  const [, mediaType, data] = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.*)$/s.exec(part.url) ?? [];
  return data === undefined ? part : { ...part, mediaType: mediaType ?? part.mediaType, data };
}

/** The address of a part, where every server can fetch it; those of one vendor's storage (`gs://…`) mean nothing to the others. */
export function webAddress(part: ImagePart | FilePart): string | undefined {
  return part.url !== undefined && /^https?:/i.test(part.url) ? part.url : undefined;
}

/** A part that names a blob cannot be sent: whoever holds the blob store puts the bytes in. */
export function unresolvedBlob(part: ImagePart | FilePart, provider: string): ModelError {
  const message =
    part.blob === undefined
      ? `the ${part.type} holds neither data nor a URL`
      : `the ${part.type} names the blob ${part.blob}; its bytes must be put in as data before the request`;
  return new ModelError({ kind: "invalid-request", message: `${message} (${provider})`, provider });
}
