import type { Content, FilePart, ImagePart, Message, ToolCallPart } from "@keelson/protocol";
import { callObject } from "../call-arguments.ts";
import {
  belongsTo,
  isAssistantGroup,
  isBlank,
  matchResults,
  type MessageGroup,
  outputParts,
  outputText,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  unresolvedBlob,
  withBytes,
} from "../history.ts";
import { textOfFile } from "../request-body.ts";
import type { Exactly } from "../wire-type.ts";
import type { OllamaResponse, OllamaCall, OllamaMessage, OllamaSaid, OllamaToolMessage } from "./ollama-wire.ts";

export interface OllamaMessageOptions {
  readonly wire: string;
  readonly provider: string;
}

/** One group as messages of `/api/chat`, joined by commas; "" when nothing of it can be sent. */
export function encodeOllamaGroup(
  group: MessageGroup,
  before: MessageGroup | undefined,
  model: string,
  options: OllamaMessageOptions,
): string {
  const messages = isAssistantGroup(group) ? assistantMessage(group, model, options) : resultMessages(group, before, options);
  return messages.map((message) => JSON.stringify(message)).join(",");
}

/** The results of calls that end a conversation; "" when there are none. */
export function closeOllamaCalls(last: MessageGroup, options: OllamaMessageOptions): string {
  return resultMessages([], last, options)
    .map((message) => JSON.stringify(message))
    .join(",");
}

/** Neighbours become one message: the results of all their calls follow it. */
function assistantMessage(group: MessageGroup, model: string, options: OllamaMessageOptions): readonly OllamaResponse[] {
  let content = "";
  let thinking = "";
  const calls: OllamaCall[] = [];
  for (const part of group.flatMap((message) => message.content)) {
    switch (part.type) {
      case "text":
      case "refusal":
        content += part.text;
        break;
      case "thinking":
        if (belongsTo(part.providerData, options.wire, model)) thinking += part.text;
        break;
      case "server-tool":
        if (!isBlank(part.text)) content += `${content === "" ? "" : "\n"}[${part.name}] ${part.text}\n`;
        break;
      case "tool-call":
        calls.push(callOf(part, options));
        break;
      case "image":
      case "file":
      case "other":
        content += readableText(part);
        break;
      case "tool-result":
        break;
    }
  }
  if (content === "" && thinking === "" && calls.length === 0) return [];
  const message = {
    role: "assistant",
    content,
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  } satisfies OllamaResponse;
  return [message satisfies Exactly<typeof message, OllamaResponse>];
}

function callOf(call: ToolCallPart, { wire }: OllamaMessageOptions): OllamaCall {
  const id = call.providerData?.wire === wire ? call.providerData["id"] : undefined;
  return { ...(typeof id === "string" && { id }), type: "function", function: { name: call.name, arguments: callObject(call) } };
}

function resultMessages(
  group: readonly Message[],
  before: MessageGroup | undefined,
  options: OllamaMessageOptions,
): readonly OllamaMessage[] {
  const { matched, strays } = matchResults(before, group);
  const messages: OllamaMessage[] = [];
  const shown: Content[] = [];
  for (const { call, result } of matched) {
    const id = call.providerData?.wire === options.wire ? call.providerData["id"] : undefined;
    const told = result === undefined ? NOT_EXECUTED : outputText(result.output);
    const message = {
      role: "tool",
      content: result?.isError === true ? `Error: ${told}` : told,
      tool_name: call.name,
      ...(typeof id === "string" && { tool_call_id: id }),
    } satisfies OllamaToolMessage;
    messages.push(message satisfies Exactly<typeof message, OllamaToolMessage>);
    const media = (outputParts(result?.output ?? null) ?? []).filter((part) => part.type === "image" || part.type === "file");
    if (media.length > 0) shown.push({ type: "text", text: `From the result of ${call.name}:` }, ...media);
  }
  push(messages, "user", shown, options);
  for (const stray of strays) messages.push({ role: "user", content: strayResultText(stray) });
  for (const message of group) push(messages, message.role === "system" ? "system" : "user", message.content, options);
  return messages;
}

/** One message: its words joined by line ends, its images beside them. */
function push(messages: OllamaMessage[], role: "user" | "system", content: readonly Content[], options: OllamaMessageOptions): void {
  const words: string[] = [];
  const images: string[] = [];
  for (const given of content) {
    const part = given.type === "image" || given.type === "file" ? withBytes(given) : given;
    if (part.type === "image" && part.data !== undefined) images.push(part.data);
    else if (part.type === "image" || part.type === "file") words.push(mediaWords(part, options));
    else if (part.type !== "tool-result") words.push(readableText(part));
  }
  const text = words.filter((word) => word !== "").join("\n");
  if (text === "" && images.length === 0) return;
  const message = { role, content: text, ...(images.length > 0 && { images }) } satisfies OllamaSaid;
  messages.push(message satisfies Exactly<typeof message, OllamaSaid>);
}

/** The server takes images as bytes, and no other files. */
function mediaWords(part: ImagePart | FilePart, { provider }: OllamaMessageOptions): string {
  const text = part.type === "file" ? textOfFile(part.mediaType, part.data) : undefined;
  const name = part.type === "file" && part.name !== undefined ? part.name : undefined;
  if (text !== undefined) return name === undefined ? text : `${name}:\n${text}`;
  if (part.data !== undefined || part.url !== undefined) return readableText(part);
  throw unresolvedBlob(part, provider);
}
