import type { JsonObject, JsonValue } from "@keelson/protocol";

/** Returns a value as JSON for a description, cut to a length. */
export function quoteJson(value: JsonValue | undefined, maxLength: number): string {
  return cutText(JSON.stringify(value ?? null), maxLength);
}

/** Returns the start of a text that is longer than `maxLength`, with an ellipsis; other texts as they are. */
export function cutText(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Adds notes in parentheses to the description of a schema. Returns the schema itself if there are none. */
export function describeFurther(schema: JsonObject, notes: readonly string[]): JsonObject {
  if (notes.length === 0) return schema;
  const { description } = schema;
  const note = `(${notes.join("; ")})`;
  return { ...schema, description: typeof description === "string" && description !== "" ? `${description} ${note}` : note };
}
