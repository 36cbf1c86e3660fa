import type { JsonObject, JsonValue } from "@keelson/protocol";
import { type CompiledSchema, compileSchema, type JsonSchema, type Schema } from "../schema/index.ts";

/**
 * Compiles the schema of a tool's input. Every vendor wants `type: "object"` at the top, which unions of objects and the
 * empty schema do not say by themselves. @throws TypeError when the input could be something else than an object
 */
export function objectSchema<In>(input: Schema<In> | JsonSchema): CompiledSchema<In> {
  const compiled = compileSchema(input, "input");
  const { jsonSchema } = compiled;
  if (!takesObjects(jsonSchema, jsonSchema, 0))
    throw new TypeError("a tool's input must be an object: wrap the value in one, as in { value: … }");
  if (jsonSchema["type"] === "object" && hasShape(jsonSchema)) return compiled;
  const described: JsonObject = { ...jsonSchema, type: "object", ...(!hasShape(jsonSchema) && { properties: {} }) };
  // A library's schema is its own check; a plain one is checked as it is described.
  const plain = !("~standard" in input) && !("jsonSchema" in input);
  return plain ? compileSchema<In>(described as JsonSchema) : { jsonSchema: described, validate: compiled.validate };
}

function hasShape(schema: JsonObject): boolean {
  return ["properties", "anyOf", "oneOf", "allOf", "$ref"].some((keyword) => keyword in schema);
}

/** Whether whatever fits `schema` is an object, as far as its outline says. */
export function takesObjects(schema: JsonValue | undefined, root: JsonObject, depth: number): boolean {
  if (depth > 20 || typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const { type, $ref, anyOf, oneOf, allOf } = schema as JsonObject;
  if (type !== undefined) return type === "object";
  if (typeof $ref === "string") return takesObjects(definitionOf(root, $ref), root, depth + 1);
  const forms = anyOf ?? oneOf;
  if (Array.isArray(forms)) return forms.every((form) => takesObjects(form, root, depth + 1));
  if (Array.isArray(allOf)) return allOf.some((part) => takesObjects(part, root, depth + 1));
  return true;
}

/** Libraries put a recursive schema at the top as a reference to one of its definitions. */
function definitionOf(root: JsonObject, reference: string): JsonValue | undefined {
  const [start, keyword = "", name = "", ...rest] = reference.split("/");
  const definitions = root[keyword];
  if (start !== "#" || rest.length > 0 || typeof definitions !== "object" || definitions === null || Array.isArray(definitions))
    return undefined;
  return (definitions as JsonObject)[name];
}
