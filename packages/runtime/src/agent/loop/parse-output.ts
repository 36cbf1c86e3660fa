import { formatIssue } from "../../schema/schema-issue.ts";
import type { Schema } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/compile-schema.ts";

/** Reads the answer of an agent with an output schema. Text around the JSON is not an answer. */
export async function parseOutput(
  schema: Schema<unknown>,
  text: string,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      ok: false,
      message: `The model's answer is no JSON, though an output schema was given: ${JSON.stringify(text.slice(0, 200))}`,
    };
  }
  const result = await compileSchema(schema).validate(value);
  if (result.issues)
    return {
      ok: false,
      message: `The model's answer does not match the output schema: ${result.issues.map(formatIssue).join("; ")}`,
    };
  return { ok: true, value: result.value };
}
