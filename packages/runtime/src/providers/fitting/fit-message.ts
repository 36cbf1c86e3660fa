import type { Content, FilePart, ImagePart, JsonObject, JsonValue, Message, ToolCallPart, ToolResultPart } from "@keelson/protocol";
import { nestsDeeper } from "../../json/nests-deeper.ts";
import { mediaText } from "../history.ts";
import { shapedCallId } from "../history/wire-call-id.ts";
import { fitMedia } from "../media/fit-media.ts";
import { fitName } from "./fit-name.ts";
import { renameKeys, renameKeysInText } from "./rename-keys.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";
import type { WireRules } from "./wire-rules.ts";

/** The member of a call's `providerData` with the original property keys by those that the vendor received. */
export const RENAMED_KEYS = "renamedKeys";

/**
 * A message of the conversation as the vendor accepts it: names, ids, media types, text. Depends on the message and the rules
 * alone, so that a message is sent in the same form each time. Returns the message itself if it fits.
 */
export function fitMessage(message: Message, rules: WireRules): Message {
  const content = message.content.map((part) => fitPart(part, rules));
  return content.every((part, at) => part === message.content[at]) ? message : { ...message, content };
}

function fitPart(part: Content, rules: WireRules): Content {
  switch (part.type) {
    case "tool-call":
      return fitCall(part, rules);
    case "tool-result":
      return fitResult(part, rules);
    case "image":
    case "file":
      return fitPartOfMedia(wellFormed(part as unknown as JsonObject) as unknown as typeof part, rules);
    default:
      return wellFormed(part as unknown as JsonObject) as unknown as Content;
  }
}

function fitCall(call: ToolCallPart, rules: WireRules): ToolCallPart {
  const name = fitName(call.name, rules.names);
  const id = fitId(call.id);
  const given = call.providerData;
  const vendorId = given?.["id"];
  let providerData = wellFormed(given);
  if (given !== undefined && typeof vendorId === "string" && !vendorId.isWellFormed())
    providerData = { ...(providerData as typeof given), id: shapedCallId(vendorId) };
  let input = wellFormed(call.input);
  let inputText = call.custom === true ? call.inputText.toWellFormed() : wellFormedJson(call.inputText);
  const keys = renamedKeys(call);
  if (keys !== undefined) {
    input = renameKeys(input, keys);
    inputText = renameKeysInText(inputText, keys);
  }
  const { maxArgumentDepth: depth } = rules;
  if (depth !== undefined && nestsDeeper(input, depth)) {
    input = flattened(input as JsonValue, depth);
    inputText = JSON.stringify(input);
  }
  const isSame =
    name === call.name && id === call.id && input === call.input && inputText === call.inputText && providerData === call.providerData;
  if (isSame) return call;
  return { ...call, name, id, inputText, ...(input !== undefined && { input }), ...(providerData !== undefined && { providerData }) };
}

function fitResult(result: ToolResultPart, rules: WireRules): ToolResultPart {
  const name = fitName(result.name, rules.names);
  const id = fitId(result.id);
  const output = fitOutput(wellFormed(result.output), rules);
  return name === result.name && id === result.id && output === result.output ? result : { ...result, name, id, output };
}

/** An image in a format that the vendor does not read becomes words. */
function fitPartOfMedia(part: ImagePart | FilePart, { images, vendor }: WireRules): Content {
  const fit = fitMedia(part);
  if (fit.type !== "image" || fit.data === undefined || images === undefined || images.includes(fit.mediaType)) return fit;
  return { type: "text", text: `${mediaText(fit)} (${fit.mediaType}, which ${vendor} does not read)` };
}

function fitOutput(output: JsonValue, rules: WireRules): JsonValue {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const { type, content } = output as { readonly type?: unknown; readonly content?: unknown };
  if (type !== "content" || !Array.isArray(content)) return output;
  const parts = (content as readonly Content[]).map((part) =>
    part.type === "image" || part.type === "file" ? fitPartOfMedia(part, rules) : part,
  );
  return parts.every((part, at) => part === content[at]) ? output : ({ ...output, content: parts } as unknown as JsonValue);
}

/** Two ids with halves of characters stay two ids. */
function fitId<Id extends string>(id: Id): Id {
  return id.isWellFormed() ? id : (shapedCallId(id) as Id);
}

/** The key that the vendor received by the original key, of a call that was made with such keys. */
function renamedKeys({ providerData }: ToolCallPart): ReadonlyMap<string, string> | undefined {
  const keys = providerData?.[RENAMED_KEYS];
  if (typeof keys !== "object" || keys === null || Array.isArray(keys)) return undefined;
  return new Map(Object.entries(keys as JsonObject).map(([sent, original]) => [String(original), sent]));
}

/** Replaces values that nest deeper than the vendor's format allows by the text of their JSON. */
function flattened(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return JSON.stringify(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => flattened(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, member === undefined ? member : flattened(member, depth - 1)]),
  );
}
