import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@keelson/protocol";
import { UsageError } from "./usage-error.ts";

/** Reads a JSON Schema: JSON, or the path of a file that holds it. @throws UsageError */
export function jsonSchema(given: string): JsonObject {
  const text = given.trimStart().startsWith("{") ? given : readFile(given);
  let schema: JsonValue;
  try {
    schema = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new UsageError(
      `--json-schema is no JSON: ${error instanceof Error ? error.message : String(error)}`,
      "Quote it for the shell, or give the path of a file.",
    );
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new UsageError(
      "--json-schema must be an object",
      `As in: --json-schema '{"type": "object", "properties": {"answer": {"type": "string"}}}'`,
    );
  return schema as JsonObject;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--json-schema ${JSON.stringify(path)} is neither JSON nor a file that can be read (${code ?? String(error)})`,
      "Give an object of JSON, or a path.",
    );
  }
}
