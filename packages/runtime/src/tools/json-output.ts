import type { Content, JsonValue, ToolContent } from "@keelson/protocol";

const PART_FIELDS: { readonly [type: string]: readonly string[] } = { text: ["text"], image: ["mediaType"], file: ["mediaType"] };

/** Whether an output is parts for the model beside plain JSON. */
export function isToolContent(output: unknown): output is ToolContent {
  return (
    typeof output === "object" &&
    output !== null &&
    (output as ToolContent).type === "content" &&
    Array.isArray((output as ToolContent).content)
  );
}

/** What is wrong with the parts of an output: tools give text, images and files. */
export function whyNotContent(parts: readonly Content[]): string | undefined {
  for (const [index, part] of parts.entries()) {
    const type = (part as { readonly type?: unknown } | null)?.type;
    const fields = typeof type === "string" && Object.hasOwn(PART_FIELDS, type) ? PART_FIELDS[type] : undefined;
    if (fields === undefined) return `$.content[${index}] is no text, image or file part`;
    const missing = fields.find((field) => typeof (part as Record<string, JsonValue>)[field] !== "string");
    if (missing !== undefined) return `$.content[${index}] is a ${String(type)} part without \`${missing}\``;
    if (type === "text") continue;
    const sources = ["data", "url", "blob"].filter((field) => (part as Record<string, unknown>)[field] !== undefined);
    if (sources.length !== 1) return `$.content[${index}] needs exactly one of \`data\`, \`url\` and \`blob\``;
  }
  return undefined;
}
