import type { JsonObject, JsonValue } from "@keelson/protocol";
import { typeOfValue } from "./schema-value.ts";

const ANY_OF_TYPE: readonly JsonObject[] = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }];

/** Adds a type to a schema that names none: that of its values or keywords, else any. */
export function fillType(schema: JsonObject): JsonObject {
  if (["type", "anyOf", "oneOf", "allOf", "$ref"].some((keyword) => schema[keyword] !== undefined)) return schema;
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(values)) {
    const types = [...new Set((values as readonly JsonValue[]).map(typeOfValue))];
    return { ...schema, type: types.length === 1 ? (types[0] as string) : types };
  }
  const type =
    schema["properties"] !== undefined || schema["additionalProperties"] !== undefined
      ? "object"
      : schema["items"] !== undefined
        ? "array"
        : schema["pattern"] !== undefined || schema["minLength"] !== undefined || schema["maxLength"] !== undefined
          ? "string"
          : undefined;
  return type === undefined ? { ...schema, anyOf: [...ANY_OF_TYPE, { type: "array", items: { type: "string" } }] } : { ...schema, type };
}

/** Moves the type of a schema into its alternatives. */
export function moveTypeIntoAlternatives(schema: JsonObject): JsonObject {
  const keyword = ["anyOf", "oneOf"].find((name) => Array.isArray(schema[name]));
  if (keyword === undefined || schema["type"] === undefined) return schema;
  const { type, ...rest } = schema;
  const alternatives = (schema[keyword] as readonly JsonObject[]).map((each) =>
    ["type", "anyOf", "oneOf", "$ref"].some((name) => each[name] !== undefined) ? each : { type, ...each },
  );
  return { ...rest, [keyword]: alternatives };
}
