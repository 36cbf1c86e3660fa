import type { Content, FilePart, ImagePart, Message, ToolCallPart, ToolResultPart } from "@keelson/protocol";
import { callObject } from "../call-arguments.ts";
import {
  belongsTo,
  EARLIER_NOT_SHOWN,
  isAssistantGroup,
  isBlank,
  matchResults,
  mediaText,
  type MessageGroup,
  NOTHING_SAID,
  outputParts,
  outputText,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  unresolvedBlob,
  webAddress,
  wireCallId,
  withBytes,
} from "../history.ts";
import { textOfFile } from "../request-body.ts";
import { echo, type Exactly } from "../wire-type.ts";
import type {
  AnthropicAssistantBlock,
  AnthropicCall,
  AnthropicMedia,
  AnthropicMessage,
  AnthropicPart,
  AnthropicResult,
  AnthropicText,
  AnthropicUserBlock,
} from "./anthropic-wire.ts";

export interface AnthropicMessageOptions {
  readonly wire: string;
  readonly provider: string;
}

/** One group as one message of the Messages API; "" when nothing of it can be sent. */
export function encodeAnthropicGroup(
  group: MessageGroup,
  before: MessageGroup | undefined,
  model: string,
  options: AnthropicMessageOptions,
): string {
  if (isAssistantGroup(group)) {
    const blocks = group.flatMap((message) => message.content.flatMap((part) => assistantBlock(part, model, options)));
    // The API refuses a message that ends with thinking.
    while (/thinking$/.test(blocks.at(-1)?.type ?? "")) blocks.pop();
    return blocks.length === 0 ? "" : messageJson({ role: "assistant", content: blocks });
  }
  const blocks = userBlocks(group, before, options);
  return blocks.length === 0 ? "" : messageJson({ role: "user", content: blocks });
}

/** The results of calls that end a conversation, as a user message; "" when there are none. */
export function closeAnthropicCalls(last: MessageGroup, options: AnthropicMessageOptions): string {
  const blocks = userBlocks([], last, options);
  return blocks.length === 0 ? "" : messageJson({ role: "user", content: blocks });
}

/** What a conversation begins with whose first turn is the assistant's, which the API refuses. */
export function anthropicOpening(): string {
  return messageJson({ role: "user", content: [textBlock(EARLIER_NOT_SHOWN)] });
}

/** A conversation that is not empty, though nothing of it can be sent. */
export function anthropicPlaceholder(): string {
  return messageJson({ role: "user", content: [textBlock(NOTHING_SAID)] });
}

function messageJson(message: AnthropicMessage): string {
  return JSON.stringify(message);
}

/** Results must stand first, in one message right after their calls. */
function userBlocks(group: readonly Message[], before: MessageGroup | undefined, options: AnthropicMessageOptions): AnthropicUserBlock[] {
  const { matched, strays } = matchResults(before, group);
  const blocks: AnthropicUserBlock[] = matched.map(({ call, result }) => resultBlock(call, result, options));
  blocks.push(...strays.map((stray) => textBlock(strayResultText(stray))));
  for (const message of group) {
    for (const part of message.content) {
      if (message.role !== "system") blocks.push(...userBlock(part, options));
      // The API knows no system message within a conversation.
      else if (part.type === "text" && !isBlank(part.text)) blocks.push(textBlock(`<system-reminder>\n${part.text}\n</system-reminder>`));
    }
  }
  return blocks;
}

function userBlock(part: Content, options: AnthropicMessageOptions): readonly AnthropicPart[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return isBlank(part.text) ? [] : [textBlock(part.text)];
    case "image":
      return [imageBlock(withBytes(part), options)];
    case "file":
      return [documentBlock(withBytes(part), options)];
    case "server-tool":
      return isBlank(part.text) ? [] : [textBlock(`[${part.name}] ${part.text}`)];
    case "other":
      return part.providerData?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "thinking":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

function words(part: Content): readonly AnthropicText[] {
  const text = readableText(part);
  return isBlank(text) ? [] : [textBlock(text)];
}

function assistantBlock(part: Content, model: string, options: AnthropicMessageOptions): readonly AnthropicAssistantBlock[] {
  const data = part.type === "tool-result" ? undefined : part.providerData;
  switch (part.type) {
    case "text": {
      const citations = data?.wire === options.wire ? data["citations"] : undefined;
      if (isBlank(part.text)) return [];
      return [citations === undefined ? textBlock(part.text) : { ...textBlock(part.text), citations: echo(citations) }];
    }
    case "thinking":
      // Thinking counts only with the signature of the model that is asked.
      if (!belongsTo(data, options.wire, model)) return [];
      if (typeof data["redacted"] === "string") return [{ type: "redacted_thinking", data: data["redacted"] }];
      return typeof data["signature"] === "string" ? [{ type: "thinking", thinking: part.text, signature: data["signature"] }] : [];
    case "tool-call":
      return [callBlock(part, options)];
    case "server-tool":
      if (data?.wire === options.wire && data["block"] !== undefined) return [echo(data["block"])];
      return isBlank(part.text) ? [] : [textBlock(`[${part.name}] ${part.text}`)];
    case "other":
      return data?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "refusal":
    case "image":
    case "file":
      return words(part);
    case "tool-result":
      return [];
  }
}

function callBlock(call: ToolCallPart, { wire }: AnthropicMessageOptions): AnthropicCall {
  const caller = call.providerData?.wire === wire ? call.providerData["caller"] : undefined;
  const block = {
    type: "tool_use",
    id: wireCallId(call, wire),
    name: call.name,
    input: callObject(call),
    ...(caller !== undefined && { caller: echo(caller) }),
  } satisfies AnthropicCall;
  return block satisfies Exactly<typeof block, AnthropicCall>;
}

function resultBlock(call: ToolCallPart, result: ToolResultPart | undefined, options: AnthropicMessageOptions): AnthropicResult {
  const id = { type: "tool_result", tool_use_id: wireCallId(call, options.wire) } as const;
  if (result === undefined) return { ...id, content: NOT_EXECUTED, is_error: true };
  const parts = outputParts(result.output);
  const content = parts === undefined ? outputText(result.output) : parts.flatMap((part) => userBlock(part, options));
  const block = { ...id, ...(content.length > 0 && { content }), ...(result.isError === true && { is_error: true }) };
  return block satisfies Exactly<typeof block, AnthropicResult>;
}

function textBlock(text: string): AnthropicText {
  return { type: "text", text };
}

function imageBlock(part: ImagePart, { provider }: AnthropicMessageOptions): AnthropicMedia | AnthropicText {
  if (part.data !== undefined) return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
  const url = webAddress(part);
  if (url !== undefined) return { type: "image", source: { type: "url", url } };
  if (part.url !== undefined) return textBlock(mediaText(part));
  throw unresolvedBlob(part, provider);
}

function documentBlock(part: FilePart, { provider, wire }: AnthropicMessageOptions): AnthropicMedia | AnthropicText {
  const title = part.name === undefined ? {} : { title: part.name };
  const fileId = part.providerData?.wire === wire ? part.providerData["fileId"] : undefined;
  if (fileId !== undefined) return { type: "document", source: { type: "file", file_id: echo(fileId) }, ...title };
  const text = textOfFile(part.mediaType, part.data);
  if (text !== undefined) return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
  if (part.data !== undefined)
    // "Input should be 'application/pdf'": no other bytes are documents.
    return part.mediaType === "application/pdf"
      ? { type: "document", source: { type: "base64", media_type: part.mediaType, data: part.data }, ...title }
      : textBlock(`${mediaText(part)} (${part.mediaType}, which this API does not read)`);
  const url = webAddress(part);
  if (url !== undefined) return { type: "document", source: { type: "url", url }, ...title };
  if (part.url !== undefined) return textBlock(mediaText(part));
  throw unresolvedBlob(part, provider);
}
