import type { JsonObject, JsonValue } from "@keelson/protocol";

/**
 * The JSON text with other property keys, also in text that is JSON itself. The digits of numbers stay as they are, and so does
 * the rest of the text: it need not be valid.
 * @param names the new key by the old one
 */
export function renameKeysInText(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text;
  const keys = [...names.keys()].map((key) =>
    JSON.stringify(key)
      .slice(1, -1)
      .replaceAll(/[.*+?^${}()|[\]\\-]/g, String.raw`\$&`),
  );
  const pattern = new RegExp(String.raw`(\\?["'])(${keys.join("|")})\1(?=\s*:)`, "g");
  return text.replaceAll(pattern, (_, quote: string, key: string) => {
    const name = JSON.stringify(names.get(JSON.parse(`"${key}"`) as string) ?? key);
    return quote.startsWith("\\") ? JSON.stringify(name).slice(1, -1) : name;
  });
}

/** Does the same as `renameKeysInText` for a value. Returns the value itself if no key is renamed. */
export function renameKeys<T extends JsonValue | undefined>(value: T, names: ReadonlyMap<string, string>): T {
  return renamed(value, names) as T;
}

function renamed(value: JsonValue | undefined, names: ReadonlyMap<string, string>): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => renamed(item, names) as JsonValue);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const object = value as JsonObject;
  const entries = Object.entries(object).map(([name, member]) => [names.get(name) ?? name, renamed(member, names)] as const);
  const isSame = entries.every(([name, member]) => Object.hasOwn(object, name) && object[name] === member);
  return isSame ? value : Object.fromEntries(entries);
}
