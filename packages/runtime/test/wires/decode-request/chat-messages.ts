import type { Content, JsonObject, Message } from "@keelson/protocol";
import { callPart } from "./call-part.ts";
import { contentOutput } from "./content-output.ts";
import type { DecodedConversation, DecodingContext } from "./decoder.ts";
import { type Fields, listOf, stringOf } from "./fields.ts";
import { mediaPart, restoredData } from "./media-part.ts";
import { textIn, textPart } from "./text-part.ts";

export function chatMessages(body: Fields, context: DecodingContext): DecodedConversation {
  const { wire, model, calls } = context;
  let system = "";
  const messages: Message[] = [];
  for (const message of listOf(body["messages"])) {
    const role = stringOf(message["role"]);
    const parts =
      typeof message["content"] === "string"
        ? textPart(message["content"])
        : listOf(message["content"]).flatMap((part) => chatPart(part, context));
    if ((role === "system" || role === "developer") && messages.length === 0) {
      system += `${system === "" ? "" : "\n"}${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
      continue;
    }
    if (role === "tool" || role === "function") {
      const named = role === "tool" ? calls.result(stringOf(message["tool_call_id"])) : calls.resultOf(stringOf(message["name"]));
      const media = parts.some((part) => part.type !== "text");
      const output = media ? contentOutput(parts) : parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      messages.push({ role: "tool", content: [{ type: "tool-result", ...named, output }] });
      continue;
    }
    const thinking = stringOf(message["reasoning_content"]) || stringOf(message["reasoning"]);
    const content: Content[] =
      thinking === "" ? [] : [{ type: "thinking", text: thinking, providerData: { wire, model, field: "reasoning_content" } }];
    content.push(...parts);
    if (stringOf(message["refusal"]) !== "") content.push({ type: "refusal", text: stringOf(message["refusal"]) });
    for (const call of listOf(message["tool_calls"])) {
      const id = stringOf(call["id"]);
      const custom = call["type"] === "custom";
      const told = ((custom ? call["custom"] : call["function"]) ?? {}) as Fields;
      const inputText = stringOf(custom ? told["input"] : told["arguments"]);
      content.push(callPart(calls, { name: stringOf(told["name"]), inputText, providerData: { wire, id }, vendorId: id, custom }));
    }
    const legacy = message["function_call"] as Fields | undefined;
    if (legacy !== undefined && legacy !== null) {
      const providerData = { wire, functionCall: true };
      content.push(callPart(calls, { name: stringOf(legacy["name"]), inputText: stringOf(legacy["arguments"]), providerData }));
    }
    messages.push({ role: role === "assistant" ? "assistant" : role === "user" ? "user" : "system", content });
  }
  return { system, messages };
}

function chatPart(part: Fields, { wire, model }: DecodingContext): Content[] {
  switch (part["type"]) {
    case "text":
      return textPart(stringOf(part["text"]));
    case "thinking":
      return [{ type: "thinking", text: textIn(part["thinking"]), providerData: { wire, model, field: "content" } }];
    case "image_url": {
      const image = part["image_url"];
      return [mediaPart("image", typeof image === "string" ? image : stringOf((image as Fields | undefined)?.["url"]), "image/png")];
    }
    case "input_audio": {
      const audio = (part["input_audio"] ?? {}) as Fields;
      return [{ type: "file", mediaType: `audio/${stringOf(audio["format"])}`, data: restoredData(stringOf(audio["data"])) }];
    }
    case "file": {
      const file = (part["file"] ?? {}) as Fields;
      return [
        { ...mediaPart("file", stringOf(file["file_data"]), "application/pdf"), name: stringOf(file["filename"]) || "file" } as Content,
      ];
    }
    case "document_url":
      return [mediaPart("file", stringOf(part["document_url"]), "application/pdf")];
    default:
      return [{ type: "other", raw: part as JsonObject, providerData: { wire } }];
  }
}
