import type { JsonObject, JsonValue } from "@keelson/protocol";

/**
 * One text per JSON value: keys in ascending order of their UTF-16 code units, no white space, `undefined` members left
 * out (`null` in arrays), numbers and strings as `JSON.stringify` writes them. So it is RFC 8785 for what JSON can hold.
 */
export function canonicalJson(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    let text = "[";
    for (let index = 0; index < items.length; index++) text += (index === 0 ? "" : ",") + canonicalJson(items[index]);
    return `${text}]`;
  }
  const members = value as JsonObject;
  let text = "{";
  const keys = sortedKeys(members);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const member = members[key];
    if (member === undefined) continue;
    const json = typeof member === "object" ? canonicalJson(member) : (JSON.stringify(member) ?? "null");
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${json}`;
  }
  return `${text}}`;
}

const FEW_KEYS = 16;

function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length > FEW_KEYS) return keys.sort();
  // The built-in sort takes more than a kilobyte for two keys.
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string;
    let to = index;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return keys;
}
