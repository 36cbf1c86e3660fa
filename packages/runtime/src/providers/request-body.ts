import type { JsonObject, JsonValue } from "@keelson/protocol";

/**
 * Merges `extra` into the parameters of a request as it is: its members win, members that are objects on both sides are joined
 * one level deep.
 */
export function mergeExtra(parameters: JsonObject, extra: JsonObject | undefined): JsonObject {
  if (extra === undefined) return parameters;
  const merged: Record<string, JsonValue | undefined> = { ...parameters };
  for (const [name, value] of Object.entries(extra)) {
    const own = merged[name];
    merged[name] = isObject(own) && isObject(value) ? { ...own, ...value } : value;
  }
  return merged;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Objects of the request's list of tools in JSON, without brackets, in the form of a wire. */
export function toolsJson(tools: readonly JsonObject[]): string {
  return tools.map((tool) => JSON.stringify(tool)).join(",");
}

/** The members of an object in JSON, without its braces, so that more can follow. */
export function jsonMembers(object: JsonObject): string {
  return JSON.stringify(object).slice(1, -1);
}

/** The decoded text of a file whose media type says that it is text; `undefined` for all others. */
export function textOfFile(mediaType: string, data: string | undefined): string | undefined {
  if (data === undefined || !(mediaType.startsWith("text/") || mediaType === "application/json")) return undefined;
  return Buffer.from(data, "base64").toString("utf8");
}
