import type { Content, JsonObject, Message, ProviderData } from "@keelson/protocol";
import { callPart } from "./call-part.ts";
import { contentOutput } from "./content-output.ts";
import type { DecodedConversation, DecodingContext } from "./decoder.ts";
import { type Fields, listOf, stringOf } from "./fields.ts";
import { mediaPart } from "./media-part.ts";
import { textPart } from "./text-part.ts";

export function responsesMessages(body: Fields, context: DecodingContext): DecodedConversation {
  const { wire, model, calls } = context;
  const { input } = body;
  const messages: Message[] = [];
  const assistant = (part: Content): void => {
    const last = messages.at(-1);
    if (last?.role === "assistant") messages[messages.length - 1] = { ...last, content: [...last.content, part] };
    else messages.push({ role: "assistant", content: [part] });
  };
  for (const item of typeof input === "string" ? [{ role: "user", content: input }] : listOf(input)) {
    const type = stringOf(item["type"]) || "message";
    const itemId = stringOf(item["id"]);
    const own: ProviderData = { wire, model, ...(itemId !== "" && { itemId }) };
    if (type === "message") {
      const role = stringOf(item["role"]);
      const content = item["content"];
      const parts = typeof content === "string" ? textPart(content) : listOf(content).flatMap(responsesPart);
      if (role === "assistant") for (const part of parts) assistant(itemId === "" ? part : ({ ...part, providerData: own } as Content));
      else messages.push({ role: role === "user" ? "user" : "system", content: parts });
    } else if (type === "reasoning") {
      const text = listOf(item["summary"])
        .map((part) => stringOf(part["text"]))
        .join("\n");
      const encrypted = item["encrypted_content"];
      assistant({
        type: "thinking",
        text,
        providerData: { ...own, ...(typeof encrypted === "string" ? { encrypted } : { stored: true }) },
      });
    } else if (type === "function_call" || type === "custom_tool_call") {
      const custom = type === "custom_tool_call";
      const inputText = stringOf(custom ? item["input"] : item["arguments"]);
      const id = stringOf(item["call_id"]);
      assistant(callPart(calls, { name: stringOf(item["name"]), inputText, providerData: { ...own, id }, vendorId: id, custom }));
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      const { output } = item;
      const told = typeof output === "string" ? output : contentOutput(listOf(output).flatMap(responsesPart));
      messages.push({ role: "tool", content: [{ type: "tool-result", ...calls.result(stringOf(item["call_id"])), output: told }] });
    } else
      assistant({
        type: "server-tool",
        name: type,
        text: JSON.stringify(item).slice(0, 200),
        providerData: { ...own, item: item as JsonObject },
      });
  }
  return { system: stringOf(body["instructions"]), messages };
}

function responsesPart(part: Fields): Content[] {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return textPart(stringOf(part["text"]));
    case "refusal":
      return [{ type: "refusal", text: stringOf(part["refusal"]) }];
    case "input_image":
      return [mediaPart("image", stringOf(part["image_url"]) || "https://example.com/image.png", "image/png")];
    case "input_file":
      return [
        {
          ...mediaPart(
            "file",
            stringOf(part["file_data"]) || stringOf(part["file_url"]) || "https://example.com/file.pdf",
            "application/pdf",
          ),
          name: stringOf(part["filename"]) || "file",
        } as Content,
      ];
    default:
      throw new Error(`no such part of an input: ${JSON.stringify(part)}`);
  }
}
