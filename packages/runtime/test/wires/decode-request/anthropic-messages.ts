import type { Content, JsonObject, JsonValue, ProviderData } from "@keelson/protocol";
import { contentOutput } from "./content-output.ts";
import type { DecodedConversation, DecodingContext } from "./decoder.ts";
import { type Fields, listOf, stringOf } from "./fields.ts";
import { restoredData } from "./media-part.ts";
import { roleOf } from "./role-of.ts";
import { textIn } from "./text-part.ts";

export function anthropicMessages(body: Fields, context: DecodingContext): DecodedConversation {
  const system = textIn(body["system"]);
  const messages = listOf(body["messages"]).map((message) => {
    const content = typeof message["content"] === "string" ? [{ type: "text", text: message["content"] }] : listOf(message["content"]);
    const parts = content.flatMap((block) => anthropicPart(block, context));
    return { role: roleOf(message["role"], parts), content: parts };
  });
  return { system, messages };
}

function anthropicPart(block: Fields, context: DecodingContext): Content[] {
  const { wire, model, calls } = context;
  const type = stringOf(block["type"]);
  const data = (own: JsonObject): ProviderData => ({ wire, ...own });
  switch (type) {
    case "text":
      return [
        {
          type: "text",
          text: stringOf(block["text"]),
          ...(Array.isArray(block["citations"]) && { providerData: data({ citations: block["citations"] as JsonValue }) }),
        },
      ];
    case "thinking":
      return [
        { type: "thinking", text: stringOf(block["thinking"]), providerData: data({ model, signature: stringOf(block["signature"]) }) },
      ];
    case "redacted_thinking":
      return [{ type: "thinking", text: "", providerData: data({ model, redacted: stringOf(block["data"]) }) }];
    case "tool_use": {
      const name = stringOf(block["name"]);
      const input = block["input"] as JsonValue;
      const id = stringOf(block["id"]);
      return [{ type: "tool-call", id: calls.call(id, name), name, input, inputText: JSON.stringify(input), providerData: data({ id }) }];
    }
    case "tool_result": {
      const { content } = block;
      const parts = Array.isArray(content) ? listOf(content).flatMap((part) => anthropicPart(part, context)) : undefined;
      const output = parts === undefined ? stringOf(content) : contentOutput(parts);
      return [
        {
          type: "tool-result",
          ...calls.result(stringOf(block["tool_use_id"])),
          output,
          ...(block["is_error"] === true && { isError: true }),
        },
      ];
    }
    case "image":
    case "document": {
      const source = (block["source"] ?? {}) as Fields;
      const mediaType = stringOf(source["media_type"]) || (type === "image" ? "image/png" : "application/pdf");
      const where =
        source["type"] === "url"
          ? { url: stringOf(source["url"]) }
          : source["type"] === "text"
            ? { data: Buffer.from(stringOf(source["data"])).toString("base64") }
            : source["type"] === "file"
              ? { url: "https://example.com/file", providerData: data({ fileId: stringOf(source["file_id"]) }) }
              : { data: restoredData(stringOf(source["data"])) };
      return [{ type: type === "image" ? "image" : "file", mediaType, ...where }];
    }
    default:
      if (/(?:tool_use|_tool_result)$/.test(type))
        return [
          {
            type: "server-tool",
            name: stringOf(block["name"]) || type,
            text: JSON.stringify(block).slice(0, 200),
            providerData: data({ block: block as JsonObject }),
          },
        ];
      return [{ type: "other", raw: block as JsonObject, providerData: data({}) }];
  }
}
