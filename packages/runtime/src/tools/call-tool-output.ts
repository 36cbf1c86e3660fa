import { isDeepStrictEqual } from "node:util";
import type { Content, JsonObject, JsonValue, ToolOutput } from "@keelson/protocol";

/** A result of a tool in the Model Context Protocol. */
export interface CallToolResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonValue;
  readonly isError: boolean;
}

/** Returns such a result as tools give it here, complete and without repetition. */
export function toolOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const texts = content.flatMap((block) => (block["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : []));
  const isText = texts.length === content.length;
  const [text] = texts;
  const isOnlyText = isText && texts.length === 1 && text !== undefined && !isError;
  if (isOnlyText && (structuredContent === undefined || wraps(structuredContent, text))) return text;
  if (structuredContent !== undefined && isText && !isError && (texts.length === 0 || (isOnlyText && says(text, structuredContent))))
    // An object of this kind would be taken for parts.
    return isPartsLike(structuredContent) ? JSON.stringify(structuredContent) : structuredContent;
  const parts = content.map(toPart);
  if (structuredContent !== undefined && !texts.some((one) => wraps(structuredContent, one) || says(one, structuredContent)))
    parts.push({ type: "text", text: JSON.stringify(structuredContent) });
  return { type: "content", content: parts, ...(isError && { isError }) };
}

/** Some wrap their text, to have structured content. */
function wraps(value: JsonValue, text: string): boolean {
  return value === text || onlyMember(value)?.[0] === text;
}

/** True if a text repeats the structured content for older clients. Some servers write it without the object around it. */
function says(text: string, value: JsonValue): boolean {
  try {
    const said: unknown = JSON.parse(text);
    return isDeepStrictEqual(said, value) || isDeepStrictEqual([said], onlyMember(value));
  } catch {
    return false;
  }
}

/** Returns the member of an object that has only one, in a list. */
function onlyMember(value: JsonValue): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: readonly unknown[] = Object.values(value);
  return found.length === 1 ? found : undefined;
}

function isPartsLike(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && (value as JsonObject)["type"] === "content";
}

function toPart(block: JsonObject): Content {
  const { type, text, data, mimeType, resource } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string")
    // Vendors would refuse each later request with an image that is none.
    return { type: type === "image" && mimeType.startsWith("image/") ? "image" : "file", mediaType: mimeType, data };
  if (type === "resource_link") return { type: "text", text: describeLink(block) };
  if (type === "resource" && typeof resource === "object" && resource !== null) return resourcePart(resource as JsonObject);
  return { type: "text", text: JSON.stringify(block) };
}

function describeLink({ uri, name, mimeType, description }: JsonObject): string {
  const kind = mimeType === undefined ? "" : ` (${String(mimeType)})`;
  return `Resource ${String(uri)}${kind}: ${String(description ?? name ?? "")}`;
}

/** The contents of a resource as a part: its text under its address, or its bytes. */
export function resourcePart({ uri, text, blob, mimeType = "application/octet-stream" }: JsonObject): Content {
  if (typeof blob !== "string") return { type: "text", text: `Resource ${String(uri)}:\n${String(text ?? "")}` };
  const mediaType = String(mimeType);
  return mediaType.startsWith("image/")
    ? { type: "image", mediaType, data: blob }
    : { type: "file", mediaType, name: String(uri), data: blob };
}
