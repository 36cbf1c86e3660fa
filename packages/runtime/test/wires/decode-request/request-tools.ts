import type { JsonObject, ToolSchema } from "@keelson/protocol";
import { type Fields, camelCased, listOf, stringOf } from "./fields.ts";

/** The functions among the tools, wherever the wire has them. */
export function requestTools(raw: Fields): ToolSchema[] {
  const tools = Array.isArray(raw["tools"]) ? listOf(raw["tools"]) : raw["tools"] ? [raw["tools"] as Fields] : [];
  return tools.flatMap((tool) => {
    const declared = camelCased(tool)["functionDeclarations"];
    const entries = Array.isArray(declared) ? listOf(declared) : [(tool["function"] as Fields | undefined) ?? tool];
    return entries.flatMap((entry): ToolSchema[] => {
      const schema = entry["input_schema"] ?? entry["parameters"] ?? camelCased(entry)["parametersJsonSchema"];
      if (typeof entry["name"] !== "string" || typeof schema !== "object" || schema === null) return [];
      return [{ name: entry["name"], description: stringOf(entry["description"]), inputSchema: lowered(schema) as JsonObject }];
    });
  });
}

/** Gemini writes types in capitals. */
function lowered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowered);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowered(value),
    ]),
  );
}
