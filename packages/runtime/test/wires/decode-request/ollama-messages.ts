import type { JsonValue, Message, Role } from "@keelson/protocol";
import type { DecodedConversation, DecodingContext } from "./decoder.ts";
import { type Fields, listOf, stringOf } from "./fields.ts";
import { textPart } from "./text-part.ts";

export function ollamaMessages(body: Fields, { wire, model, calls }: DecodingContext): DecodedConversation {
  let system = "";
  const messages: Message[] = [];
  for (const message of listOf(body["messages"])) {
    const role = stringOf(message["role"]);
    const content = textPart(stringOf(message["content"]));
    if (role === "system" && messages.length === 0) system += stringOf(message["content"]);
    else if (role === "tool")
      messages.push({
        role,
        content: [{ type: "tool-result", ...calls.resultOf(stringOf(message["tool_name"])), output: stringOf(message["content"]) }],
      });
    else {
      if (stringOf(message["thinking"]) !== "")
        content.unshift({ type: "thinking", text: stringOf(message["thinking"]), providerData: { wire, model } });
      for (const image of (message["images"] as string[] | undefined) ?? [])
        content.push({ type: "image", mediaType: "image/png", data: image });
      for (const call of listOf(message["tool_calls"])) {
        const told = (call["function"] ?? {}) as Fields;
        const input = told["arguments"] as JsonValue;
        content.push({
          type: "tool-call",
          id: calls.call("", stringOf(told["name"])),
          name: stringOf(told["name"]),
          input,
          inputText: JSON.stringify(input),
          providerData: { wire },
        });
      }
      messages.push({ role: role as Role, content });
    }
  }
  return { system, messages };
}
