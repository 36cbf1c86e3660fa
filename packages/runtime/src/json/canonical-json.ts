import type { JsonObject, JsonValue } from "@keelson/protocol";

/**
 * One text per JSON value: keys in ascending order of their UTF-16 code units, no white space, `undefined` members left
 * out (`null` in arrays), numbers and strings as `JSON.stringify` writes them. So it is RFC 8785 for what JSON can hold.
 */
export function canonicalJson(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${Array.from(value as readonly JsonValue[], canonicalJson).join(",")}]`;
  const members = Object.entries(value as JsonObject)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
