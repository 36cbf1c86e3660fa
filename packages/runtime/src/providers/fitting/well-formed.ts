import type { JsonValue } from "@keelson/protocol";

/**
 * The same value with U+FFFD for each half of a surrogate pair without the other half, keys included. Such text has no UTF-8, and strict
 * servers refuse a body with its escape. Returns the value itself if there is none.
 */
export function wellFormed<T extends JsonValue | undefined>(value: T): T {
  return (typeof value === "string" ? (value.isWellFormed() ? value : value.toWellFormed()) : inner(value)) as T;
}

function inner(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    let changed: JsonValue[] | undefined;
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at] as JsonValue;
      const fit = wellFormed(item);
      if (fit !== item) (changed ??= [...items])[at] = fit;
    }
    return changed ?? value;
  }
  let isChanged = false;
  const members = Object.entries(value).map(([name, member]): [string, JsonValue | undefined] => {
    const fit = wellFormed(member);
    if (fit !== member || !name.isWellFormed()) isChanged = true;
    return [name, fit];
  });
  return isChanged ? Object.fromEntries(distinctNames(members)) : value;
}

/** Two names that became one get different numbers of that character. */
function distinctNames(members: readonly [string, JsonValue | undefined][]): [string, JsonValue | undefined][] {
  const taken = new Set(members.map(([name]) => name).filter((name) => name.isWellFormed()));
  return members.map(([name, value]) => {
    if (name.isWellFormed()) return [name, value];
    let fit = name.toWellFormed();
    while (taken.has(fit)) fit += "\u{FFFD}";
    taken.add(fit);
    return [fit, value];
  });
}

const ESCAPE = /\\(?:u([dD][89aAbB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u[dD][c-fC-F][0-9a-fA-F]{2}|[\s\S])/g;

/** Does the same as `wellFormed` for a text that is itself JSON, or nearly: the escapes in it, too. */
export function wellFormedJson(text: string): string {
  const fit = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(fit)) return fit;
  return fit.replaceAll(ESCAPE, (escape, high: string | undefined, low: string | undefined) => {
    if (high !== undefined && low !== undefined) return escape;
    return /^\\u[dD][89a-fA-F]/.test(escape) ? "\u{FFFD}" : escape;
  });
}
