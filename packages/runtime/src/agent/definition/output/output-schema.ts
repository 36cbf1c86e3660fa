import type { JsonObject, JsonValue } from "@keelson/protocol";
import { takesObjects } from "../../../tools/object-schema.ts";

/** The member that holds an output which is no object itself. */
export const OUTPUT_MEMBER = "answer";

/** What a model is asked for: tools and most vendors take objects only, so what is none goes into a member of one. */
export interface OutputSchema {
  readonly schema: JsonObject;
  readonly wrapped: boolean;
}

export function outputSchema(jsonSchema: JsonObject): OutputSchema {
  if (saysObject(jsonSchema))
    return { schema: jsonSchema["type"] === "object" ? jsonSchema : { ...jsonSchema, type: "object" }, wrapped: false };
  const { $defs, definitions, ...rest } = jsonSchema;
  const schema: JsonObject = {
    type: "object",
    properties: { [OUTPUT_MEMBER]: moved(rest) },
    required: [OUTPUT_MEMBER],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moved($defs) }),
    ...(definitions !== undefined && { definitions: moved(definitions) }),
  };
  return { schema, wrapped: true };
}

/** The output in what the model wrote. One that was given without the member around it is taken as it is. */
export function unwrapOutput(value: JsonValue, wrapped: boolean): JsonValue {
  if (!wrapped || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return (Object.hasOwn(value, OUTPUT_MEMBER) ? (value as JsonObject)[OUTPUT_MEMBER] : value) as JsonValue;
}

function saysObject(schema: JsonObject): boolean {
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  return (type ?? $ref ?? anyOf ?? oneOf ?? allOf) !== undefined && takesObjects(schema, schema, 0);
}

/** References within the schema, where it now stands: what it refers to at its top went with it; definitions stayed at the top. */
function moved(part: JsonValue | undefined): JsonValue {
  if (Array.isArray(part)) return part.map((item) => moved(item as JsonValue));
  if (typeof part !== "object" || part === null) return part as JsonValue;
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => [
      keyword,
      keyword === "$ref" && typeof value === "string" ? movedReference(value) : moved(value as JsonValue),
    ]),
  );
}

function movedReference(reference: string): string {
  if (reference !== "#" && !reference.startsWith("#/")) return reference;
  return /^#\/(?:\$defs|definitions)\//.test(reference) ? reference : `#/properties/${OUTPUT_MEMBER}${reference.slice(1)}`;
}
