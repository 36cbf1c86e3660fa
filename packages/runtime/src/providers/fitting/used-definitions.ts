import type { JsonObject, JsonValue } from "@keelson/protocol";
import { isObject } from "./schema-value.ts";

/** Returns the definitions that a schema refers to, directly or through another definition, in their order. */
export function usedDefinitions(definitions: JsonObject, schema: JsonObject, fit: (definition: JsonObject) => JsonObject): JsonObject {
  const used = new Map<string, JsonObject>();
  const waiting = referencesIn(schema);
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const definition = definitions[name];
    if (used.has(name) || !isObject(definition)) continue;
    const fitted = fit(definition);
    used.set(name, fitted);
    waiting.push(...referencesIn(fitted));
  }
  const order = Object.keys(definitions);
  return Object.fromEntries([...used].toSorted(([left], [right]) => order.indexOf(left) - order.indexOf(right)));
}

/** Adds definitions to a schema whose members keep the order of the original. */
export function withDefinitions(fitted: JsonObject, $defs: JsonObject, original: JsonObject): JsonObject {
  const order = Object.keys(original);
  const all: JsonObject = { ...fitted, $defs };
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.fromEntries(Object.entries(all).toSorted(([left], [right]) => place(left) - place(right)));
}

function referencesIn(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([keyword, inner]) =>
    keyword === "$ref" && typeof inner === "string" && inner.startsWith("#/$defs/")
      ? [inner.slice("#/$defs/".length)]
      : referencesIn(inner),
  );
}
