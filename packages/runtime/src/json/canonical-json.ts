import type { JsonValue } from "@keelson/protocol";

/**
 * One text per JSON value: keys in ascending order of their UTF-16 code units, no white space, `undefined` members left
 * out (`null` in arrays), numbers and strings as `JSON.stringify` writes them. So it is RFC 8785 for what JSON can hold.
 */
export function canonicalJson(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) text += (index === 0 ? "" : ",") + canonicalJson(value[index]);
    return `${text}]`;
  }
  let text = "{";
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

// `Array.isArray` does not narrow readonly arrays.
function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  // Sorting copies; few keys are mostly in order.
  for (let index = 1; index < keys.length; index++) if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort();
  return keys;
}
