import type { JsonObject, JsonValue } from "@keelson/protocol";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { type LinkedWire, parsedInput } from "./linked-steps.ts";

const settings = { apiKey: "test", baseUrl: "http://stub.invalid/v1" };

export const linkedResponses: LinkedWire = {
  wire: "openai-responses",
  provider: (_, fetch) => createOpenAiResponsesProvider({ ...settings, fetch }),
  entries: (body) => (Array.isArray(body["input"]) ? (body["input"] as readonly JsonObject[]) : [{ role: "user", content: body["input"] }]),
  isAssistant: (item) => item["role"] === "assistant" || ["reasoning", "function_call", "custom_tool_call"].includes(String(item["type"])),
  read(item, blocks) {
    switch (item["type"]) {
      case "reasoning":
        blocks.reasoning += [...objects(item["summary"]), ...objects(item["content"])].map((part) => part["text"]).join("");
        if (typeof item["encrypted_content"] === "string") blocks.sealed.push(item["encrypted_content"]);
        return;
      case "function_call":
      case "custom_tool_call":
        blocks.calls.push({
          id: String(item["call_id"]),
          name: String(item["name"]),
          input: parsedInput(item["arguments"] ?? item["input"]),
        });
        return;
      default:
        blocks.text += textIn(item["content"]);
    }
  },
};

export const linkedChat: LinkedWire = {
  wire: "openai-chat",
  provider: ({ provider: vendor }, fetch) => createOpenAiCompatibleProvider({ ...settings, vendor, fetch }),
  entries: (body) => body["messages"] as readonly JsonObject[],
  isAssistant: (message) => message["role"] === "assistant",
  read(message, blocks) {
    blocks.text += textIn(message["content"]);
    const details = objects(message["reasoning_details"]);
    const thinking = objects(message["content"]).flatMap((part) => (part["type"] === "thinking" ? objects(part["thinking"]) : []));
    blocks.reasoning += [...details, ...thinking].map((part) => part["text"] ?? part["summary"] ?? "").join("");
    if (details.length === 0) blocks.reasoning += String(message["reasoning_content"] ?? message["reasoning"] ?? "");
    for (const detail of details)
      for (const name of ["signature", "data"]) if (typeof detail[name] === "string") blocks.sealed.push(detail[name]);
    for (const call of objects(message["tool_calls"])) {
      const body = (call["custom"] ?? call["function"]) as JsonObject;
      blocks.calls.push({ id: String(call["id"]), name: String(body["name"]), input: parsedInput(body["arguments"] ?? body["input"]) });
      const signature = (call["extra_content"] as { google?: { thought_signature?: string } } | undefined)?.google?.thought_signature;
      if (signature !== undefined) blocks.sealed.push(signature);
    }
    const legacy = message["function_call"] as JsonObject | undefined;
    if (legacy !== undefined && legacy !== null)
      blocks.calls.push({ id: "", name: String(legacy["name"]), input: parsedInput(legacy["arguments"]) });
  },
};

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

function textIn(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return objects(content)
    .map((part) => (part["type"] === "text" || part["type"] === "output_text" ? part["text"] : ""))
    .join("");
}
