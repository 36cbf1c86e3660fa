import type { JsonObject } from "@keelson/protocol";
import { normalSchema, SchemaProblem } from "../../schema/normal-schema.ts";
import { type FittedSchema, SchemaFitter } from "./schema-fitter.ts";
import type { SchemaRules } from "./wire-rules.ts";

/** The reason why no schema could be made that the vendor accepts; completes "its schema …". */
export interface UnfitSchema {
  readonly problem: string;
}

/** Returns a schema of arguments as a vendor accepts it, with less detail until it is short enough. */
export function fitSchema(original: JsonObject, rules: SchemaRules): FittedSchema | UnfitSchema {
  let normal: JsonObject;
  try {
    normal = normalSchema(original);
  } catch (error) {
    if (error instanceof SchemaProblem) return { problem: error.message };
    throw error;
  }
  let length = 0;
  for (const bounds of [
    { maxDepth: rules.maxDepth, isTerse: false },
    { maxDepth: rules.maxDepth, isTerse: true },
    { maxDepth: 6, isTerse: true },
    { maxDepth: 2, isTerse: true },
    { maxDepth: 1, isTerse: true },
  ]) {
    const fitted = new SchemaFitter(normal, rules, bounds).fit();
    if (fitted === undefined) return { problem: "accepts no object, and arguments are one" };
    const text = JSON.stringify(fitted.schema);
    length = text.length;
    if (length > rules.maxLength) continue;
    // Returns the same object, because caches are keyed by it.
    return text === JSON.stringify(original) ? { ...fitted, schema: original } : fitted;
  }
  return { problem: `has ${length} characters of JSON at its shortest, and ${rules.maxLength} are sent at most` };
}
