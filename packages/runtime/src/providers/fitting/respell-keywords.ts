import type { JsonObject } from "@keelson/protocol";

/** Replaces keywords that a vendor does not accept by others of the same meaning. Returns the schema itself if there are none. */
export function respellKeywords(schema: JsonObject, without: readonly string[]): JsonObject {
  let result = schema;
  if (without.includes("const") && result["const"] !== undefined) {
    const { const: value, ...rest } = result;
    result = { ...rest, enum: [value] };
  }
  if (without.includes("oneOf") && result["oneOf"] !== undefined && result["anyOf"] === undefined) {
    const { oneOf, ...rest } = result;
    result = { ...rest, anyOf: oneOf };
  }
  const { allOf } = result;
  if (!without.includes("allOf") || !Array.isArray(allOf)) return result;
  const parts = allOf as readonly JsonObject[];
  const { allOf: _, ...rest } = result;
  // The keywords of the schema replace those of its parts, and later parts replace earlier ones.
  return Object.assign({}, ...parts, rest) as JsonObject;
}
