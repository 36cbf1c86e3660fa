import type { JsonObject } from "@keelson/protocol";
import type { CallToolResult } from "./call-tool-output.ts";

/** The members of a result in the Model Context Protocol. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError", "_meta"]);

interface PartMembers {
  readonly texts: readonly string[];
  readonly objects?: readonly string[];
  readonly others?: readonly string[];
}

/** The members of each type of part: texts and objects that must be there, and others that may be. */
const PARTS: { readonly [type: string]: PartMembers } = {
  text: { texts: ["text"] },
  image: { texts: ["data", "mimeType"] },
  audio: { texts: ["data", "mimeType"] },
  resource: { texts: [], objects: ["resource"] },
  resource_link: { texts: ["uri"], others: ["name", "title", "description", "mimeType", "size", "icons"] },
};
/** Members that every part may have. */
const COMMON: readonly string[] = ["type", "annotations", "_meta"];

/**
 * Returns what a tool gave as a result of that protocol, or `undefined` if it is plain JSON: because it has a member that the protocol does not know, or
 * a part that is of no known type or has other members.
 */
export function asCallToolResult(value: unknown): CallToolResult | undefined {
  if (!isObject(value) || !Object.keys(value).every((key) => RESULT_MEMBERS.has(key))) return undefined;
  const { content, structuredContent, isError } = value;
  if (!Array.isArray(content) || !content.every(isPart)) return undefined;
  if (isError !== undefined && typeof isError !== "boolean") return undefined;
  if (structuredContent !== undefined && !isObject(structuredContent)) return undefined;
  // An empty list alone says nothing of the protocol.
  if (content.length === 0 && structuredContent === undefined && isError === undefined) return undefined;
  return {
    content,
    isError: isError === true,
    ...(structuredContent !== undefined && { structuredContent: structuredContent as JsonObject }),
  };
}

function isPart(part: unknown): part is JsonObject {
  if (!isObject(part) || typeof part["type"] !== "string" || !Object.hasOwn(PARTS, part["type"])) return false;
  const { texts, objects = [], others = [] } = PARTS[part["type"]] as PartMembers;
  return (
    texts.every((name) => typeof part[name] === "string") &&
    objects.every((name) => isObject(part[name])) &&
    Object.keys(part).every((name) => [...COMMON, ...texts, ...objects, ...others].includes(name))
  );
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
