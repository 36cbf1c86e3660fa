import type { JsonObject, JsonValue, ToolSchema } from "@keelson/protocol";

/** What stands around the declarations of all tools. */
export const DECLARATIONS_HEAD = "# Tools\n\n## functions\n\nnamespace functions {\n\n";
export const DECLARATIONS_END = "} // namespace functions";

/** A tool as models of OpenAI are shown it: not its JSON Schema, but a type in TypeScript, with descriptions as comments. */
export function toolDeclaration({ name, description, inputSchema }: ToolSchema): string {
  const members = membersOf(inputSchema);
  const input = members === "" ? "" : `_: {\n${members}\n}`;
  return `${comment(description)}type ${name} = (${input}) => any;\n\n`;
}

function membersOf({ properties, required }: JsonObject): string {
  if (!isObject(properties)) return "";
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .map(([name, schema]) => {
      const about = isObject(schema) && typeof schema["description"] === "string" ? comment(schema["description"]) : "";
      return `${about}${name}${needed.has(name) ? "" : "?"}: ${typeOf(schema)},${defaultOf(schema)}`;
    })
    .join("\n");
}

function typeOf(schema: JsonValue | undefined): string {
  if (!isObject(schema)) return "any";
  const { type, enum: values, anyOf, items } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return items === undefined ? "any[]" : `${typeOf(items)}[]`;
    case "object": {
      const members = membersOf(schema);
      return members === "" ? "object" : `{\n${members}\n}`;
    }
    default:
      return "any";
  }
}

function defaultOf(schema: JsonValue | undefined): string {
  if (!isObject(schema) || schema["default"] === undefined) return "";
  const { default: value } = schema;
  return ` // default: ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

function comment(text: string): string {
  return text === "" ? "" : `// ${text}\n`;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
