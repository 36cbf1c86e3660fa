import type { JsonObject, JsonValue } from "@keelson/protocol";

/** True for a JSON object; arrays are none. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value of a keyword that takes an object, or an empty object. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the value of a keyword that takes a list, or an empty list. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** Returns the name of the JSON type of a value. */
export function typeOfValue(value: JsonValue): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** Returns the values without repetitions, in their order. */
export function distinctValues(values: readonly JsonValue[]): readonly JsonValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** True for a schema that nothing matches: `{"not": {}}`. */
export function isRefusal({ not }: JsonObject): boolean {
  return isObject(not) && Object.keys(not).length === 0;
}
