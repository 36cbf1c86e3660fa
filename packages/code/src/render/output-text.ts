import type { Content, JsonValue } from "@keelson/protocol";

/** What a tool returned, as text to show. Parts that are no text are named. */
export function outputText(output: JsonValue): string {
  if (typeof output === "string") return output;
  if (isContent(output)) return output.content.map(partText).join("\n");
  return JSON.stringify(output, null, 2);
}

function isContent(output: JsonValue): output is JsonValue & { readonly content: readonly Content[] } {
  return (
    typeof output === "object" &&
    output !== null &&
    !Array.isArray(output) &&
    (output as { type?: unknown }).type === "content" &&
    Array.isArray((output as { content?: unknown }).content)
  );
}

function partText(part: Content): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "file":
      return `[${part.type} ${part.mediaType}]`;
    default:
      return `[${part.type}]`;
  }
}
