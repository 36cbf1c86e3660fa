import type { JsonObject, ValidationResult } from "@keelson/protocol";
import { validateWithAjv } from "./ajv-validator.ts";
import { checkJson } from "./check-json.ts";
import { reportKeywords } from "./keywords.ts";
import type { JsonSchema, Schema } from "./schema.ts";
import type { SchemaIssue } from "./schema-issue.ts";
import type { SelfDescribing, StandardIssue, StandardSchema } from "./standard-schema.ts";

/** A schema in the two forms that are needed: what models are told, and the check. */
export interface CompiledSchema<Out> {
  /** A copy of the described JSON Schema: plain data, without `$schema`. */
  readonly jsonSchema: JsonObject;
  validate(value: unknown): Promise<ValidationResult<Out>>;
}

/**
 * @param side of a schema that transforms, what it takes (`input`) or what it gives (`output`)
 * @throws TypeError when it is no schema, cannot describe itself, or its JSON Schema is malformed; the message says which
 */
export function compileSchema<Out>(schema: Schema<Out> | JsonSchema, side: "input" | "output" = "input"): CompiledSchema<Out> {
  // ArkType schemas are functions.
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null)
    throw new TypeError(`expected a schema, got ${schema === null ? "null" : typeof schema}`);
  if (isStandard<Out>(schema)) return { jsonSchema: describe(schema, side), validate: checkOf(schema) };
  const pair = schema as { readonly schema?: unknown; readonly jsonSchema?: unknown };
  if (isSchemaInside(pair))
    throw new TypeError(
      "`{ schema }` is no schema: write the schema itself, without an object around it, or { schema, jsonSchema } for a library that cannot describe itself",
    );
  if (isStandard<Out>(pair.schema)) return { jsonSchema: copySchema(pair.jsonSchema), validate: checkOf(pair.schema) };
  const jsonSchema = copySchema(schema);
  const validate = createJsonSchemaValidator(jsonSchema);
  return {
    jsonSchema,
    async validate(value) {
      const issues = await validate(value);
      return issues.length === 0 ? { value: value as Out } : { issues };
    },
  };
}

/** @throws TypeError when the schema is malformed. The returned function finds the issues of a value; none means valid. */
export function createJsonSchemaValidator(jsonSchema: JsonObject): (value: unknown) => Promise<readonly SchemaIssue[]> {
  const report = reportKeywords(jsonSchema);
  if (report.type === "invalid") throw new TypeError(report.message);
  if (report.type === "unknown") return (value) => validateWithAjv(jsonSchema, value);
  return async (value) => checkJson(jsonSchema, value, report.isSlow);
}

/** Other SDKs take the schema in an object: `output: { schema }`. As a JSON Schema that would accept everything. */
function isSchemaInside(given: { readonly schema?: unknown; readonly jsonSchema?: unknown }): boolean {
  const { schema, jsonSchema } = given;
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null || jsonSchema !== undefined) return false;
  return isStandard(schema) || !SHAPE_KEYWORDS.some((keyword) => keyword in given);
}
const SHAPE_KEYWORDS: readonly string[] = [
  "properties",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "enum",
  "const",
  "items",
  "additionalProperties",
];

function isStandard<Out>(schema: unknown): schema is StandardSchema<unknown, Out> {
  return (
    (typeof schema === "object" || typeof schema === "function") &&
    schema !== null &&
    "~standard" in schema &&
    typeof (schema as StandardSchema)["~standard"]?.validate === "function"
  );
}

function describe(schema: StandardSchema & Partial<SelfDescribing>, side: "input" | "output"): JsonObject {
  const standard = schema["~standard"] as Partial<SelfDescribing["~standard"]> & { readonly vendor: string };
  if (typeof standard.jsonSchema?.[side] !== "function") {
    throw new TypeError(
      `this ${standard.vendor} schema cannot describe itself as JSON Schema: pass { schema, jsonSchema } with the JSON Schema beside it`,
    );
  }
  return copySchema(standard.jsonSchema[side]({ target: "draft-2020-12" }));
}

/** Plain data that nobody else holds: libraries hang functions on what they return, and callers may change what they gave. */
function copySchema(schema: unknown): JsonObject {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw new TypeError("a JSON Schema must be an object");
  const { $schema: _, ...copy } = JSON.parse(JSON.stringify(schema)) as { readonly $schema?: string } & JsonObject;
  return copy;
}

/** The check of a library's schema. What fits comes as the library gives it. */
function checkOf<Out>(schema: StandardSchema<unknown, Out>): CompiledSchema<Out>["validate"] {
  return async (value) => {
    const result = await schema["~standard"].validate(value);
    return result.issues === undefined ? result : { issues: result.issues.map(toIssue) };
  };
}

function toIssue(issue: StandardIssue): SchemaIssue {
  const path = (issue.path ?? []).map((part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "symbol" ? String(key) : key;
  });
  return { path, message: issue.message };
}
