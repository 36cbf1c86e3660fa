import type { JsonObject, JsonValue, McpToolDescriptor } from "@keelson/protocol";
import { createJsonSchemaValidator } from "../../schema/index.ts";
import { plainJson } from "../../json/index.ts";
import { objectSchema } from "../../tools/object-schema.ts";

export interface ReadDescriptors {
  readonly tools: readonly McpToolDescriptor[];
  /** Why tools, or parts of them, were left out. */
  readonly problems: readonly string[];
}

const MAX_TOOLS = 2000;
const MAX_DESCRIPTION = 20_000;

/** Reads what a server says of its tools. A tool that has no usable form is left out, and no other with it. */
export async function readDescriptors(listed: readonly unknown[]): Promise<ReadDescriptors> {
  const tools = new Map<string, McpToolDescriptor>();
  const problems: string[] = [];
  for (const entry of listed.slice(0, MAX_TOOLS)) {
    const name = nameOf(entry);
    try {
      if (tools.has(name)) throw new TypeError("there is another of that name");
      tools.set(name, await readDescriptor(plainJson(entry) as JsonObject, problems));
    } catch (error) {
      problems.push(`The tool ${JSON.stringify(name)} is left out: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
  if (listed.length > MAX_TOOLS) problems.push(`Of ${listed.length} tools all after the first ${MAX_TOOLS} are left out.`);
  return { tools: [...tools.values()], problems };
}

function nameOf(entry: unknown): string {
  const name = typeof entry === "object" && entry !== null ? (entry as { readonly name?: unknown }).name : undefined;
  return typeof name === "string" ? name : "";
}

async function readDescriptor(entry: JsonObject, problems: string[]): Promise<McpToolDescriptor> {
  const { name, title, description, inputSchema, outputSchema, annotations } = entry;
  if (typeof name !== "string" || name === "") throw new TypeError("it has no name");
  if (!isObject(inputSchema)) throw new TypeError("its input has no schema");
  const schema = withDefaults(inputSchema);
  // A schema may show only when something is checked that it can't be used.
  await objectSchema(schema as { readonly type?: string }).validate({});
  const text = typeof description === "string" ? description : "";
  return {
    name,
    description: text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text,
    inputSchema: schema,
    ...(typeof title === "string" && { title }),
    ...(isObject(outputSchema) && (await isUsable(name, outputSchema, problems)) && { outputSchema }),
    ...(isObject(annotations) && { annotations: readAnnotations(annotations) }),
  };
}

/** Some generators call required what has a default, which servers then fill in: no call has to name it. */
function withDefaults(schema: JsonObject): JsonObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return schema;
  const hasDefault = (name: JsonValue): boolean => {
    const property = typeof name === "string" && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) && Object.hasOwn(property, "default");
  };
  return required.some(hasDefault) ? { ...schema, required: required.filter((name) => !hasDefault(name)) } : schema;
}

async function isUsable(name: string, schema: JsonObject, problems: string[]): Promise<boolean> {
  try {
    await createJsonSchemaValidator(schema)({});
    return true;
  } catch (error) {
    problems.push(`What the tool ${JSON.stringify(name)} gives is not checked: ${error instanceof Error ? error.message : String(error)}.`);
    return false;
  }
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

function readAnnotations(given: JsonObject): NonNullable<McpToolDescriptor["annotations"]> {
  return Object.fromEntries(HINTS.flatMap((hint) => (typeof given[hint] === "boolean" ? [[hint, given[hint]]] : [])));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
