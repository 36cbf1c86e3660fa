import type { Content, JsonObject, JsonValue, Message } from "@keelson/protocol";
import type { DecodedConversation, DecodingContext } from "./decoder.ts";
import { camelCased, type Fields, listOf, stringOf } from "./fields.ts";
import { restoredData } from "./media-part.ts";
import { roleOf } from "./role-of.ts";
import { textIn } from "./text-part.ts";

export function geminiMessages(raw: Fields, context: DecodingContext): DecodedConversation {
  const body = camelCased(raw);
  const messages = listOf(body["contents"]).map((content): Message => {
    const parts = listOf(content["parts"]).flatMap((part) => geminiPart(camelCased(part), context));
    return { role: content["role"] === "model" ? "assistant" : roleOf("user", parts), content: parts };
  });
  return { system: textIn((body["systemInstruction"] as Fields | null | undefined)?.["parts"]), messages };
}

function geminiPart(part: Fields, { wire, model, calls }: DecodingContext): Content[] {
  const signature = part["thoughtSignature"];
  const signed = typeof signature === "string" ? { providerData: { wire, model, thoughtSignature: signature } } : {};
  const call = part["functionCall"] as Fields | undefined;
  const response = part["functionResponse"] as Fields | undefined;
  const media = part["inlineData"] ?? part["fileData"];
  if (part["thought"] === true) return [{ type: "thinking", text: stringOf(part["text"]), ...signed }];
  if (typeof part["text"] === "string") return [{ type: "text", text: part["text"], ...signed }];
  if (call !== undefined) {
    const id = stringOf(call["id"]);
    const name = stringOf(call["name"]);
    const input = (call["args"] ?? {}) as JsonValue;
    const providerData = { wire, model, ...(id !== "" && { id }), ...signed.providerData };
    return [{ type: "tool-call", id: calls.call(id, name), name, input, inputText: JSON.stringify(input), providerData }];
  }
  if (response !== undefined) {
    const id = stringOf(response["id"]);
    const named = id === "" ? calls.resultOf(stringOf(response["name"])) : calls.result(id);
    return [{ type: "tool-result", ...named, output: (response["response"] ?? {}) as JsonValue }];
  }
  if (media !== undefined) {
    const { mimeType, data, fileUri } = camelCased(media as Fields);
    const mediaType = stringOf(mimeType) || "application/octet-stream";
    const where = typeof data === "string" ? { data: restoredData(data) } : { url: stringOf(fileUri) };
    return [{ type: mediaType.startsWith("image/") ? "image" : "file", mediaType, ...where }];
  }
  return [{ type: "server-tool", name: "code", text: JSON.stringify(part), providerData: { wire, part: part as JsonObject } }];
}
