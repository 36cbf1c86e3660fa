import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { missingProperty, TOOK_TOO_LONG, unknownProperty } from "./check-json.ts";
import type { SchemaIssue } from "./schema-issue.ts";
import { withinTime } from "./within-time.ts";

let instance: Promise<Ajv2020> | undefined;
// Keyed by text, so that equal schemas of several tools compile once; ajv itself would keep every object it ever saw.
const compiled = new Map<string, ValidateFunction>();
const MAX_COMPILED = 500;

/**
 * Validates with ajv, which is loaded on the first call. For schemas that the small checker cannot judge.
 * @throws Error when ajv cannot compile the schema
 */
export async function validateWithAjv(schema: object, value: unknown): Promise<readonly SchemaIssue[]> {
  const validate = await compile(schema);
  const errors = withinTime(() => (validate(value) ? [] : (validate.errors ?? []).slice(0, 20)));
  return errors?.map(toIssue) ?? TOOK_TOO_LONG;
}

async function compile(schema: object): Promise<ValidateFunction> {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  instance ??= loadAjv();
  const ajv = await instance;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  // A draft-7 `$schema` must not make it look for a meta-schema that is not there.
  const { $schema: _, ...rest } = schema as { readonly $schema?: unknown };
  const validate = withinTime(() => ajv.compile(rest));
  if (validate === undefined) throw new Error("The schema takes too long to compile.");
  ajv.removeSchema(); // what it compiled goes on working; another tool may use the same $id
  compiled.set(text, validate);
  return validate;
}

async function loadAjv(): Promise<Ajv2020> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  return new Ajv2020({
    strict: false, // unknown words are annotations
    allErrors: true,
    validateFormats: false, // annotations as well
    ownProperties: true, // "toString" is not there because every object inherits it
    verbose: true, // errors carry the schema and the data that messages name
    logger: false,
  });
}

function toIssue(error: ErrorObject): SchemaIssue {
  const path = error.instancePath === "" ? [] : error.instancePath.slice(1).split("/").map(decodePart);
  const params = error.params as {
    readonly missingProperty?: string;
    readonly additionalProperty?: string;
    readonly allowedValues?: readonly unknown[];
  };
  const parent = error.parentSchema as { readonly properties?: { readonly [name: string]: unknown } } | undefined;
  if (error.keyword === "required" && params.missingProperty !== undefined) {
    const provided = typeof error.data === "object" && error.data !== null ? Object.keys(error.data) : [];
    return { path: [...path, params.missingProperty], message: missingProperty(parent?.properties?.[params.missingProperty], provided) };
  }
  if (error.keyword === "additionalProperties" && params.additionalProperty !== undefined) {
    return { path: [...path, params.additionalProperty], message: unknownProperty(Object.keys(parent?.properties ?? {})) };
  }
  const allowed = params.allowedValues === undefined ? "" : `: ${params.allowedValues.map((option) => JSON.stringify(option)).join(", ")}`;
  return { path, message: `${error.message ?? `fails ${error.keyword}`}${allowed}` };
}

function decodePart(part: string): string | number {
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  return /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key;
}
