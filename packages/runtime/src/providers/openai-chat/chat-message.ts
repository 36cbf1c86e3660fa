import type { Content, FilePart, ImagePart, JsonObject, Message, ThinkingPart, ToolCallPart, ToolResultPart } from "@keelson/protocol";
import { callArguments } from "../call-arguments.ts";
import {
  belongsTo,
  isAssistantGroup,
  isBlank,
  isFreeText,
  matchResults,
  mediaText,
  type MessageGroup,
  outputParts,
  outputText,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  unresolvedBlob,
  webAddress,
  withBytes,
} from "../history.ts";
import { textOfFile } from "../request-body.ts";
import { type Echo, echo } from "../wire-type.ts";
import { acceptableOrder } from "./chat-order.ts";
import { reasoningMembers } from "./chat-reasoning.ts";
import type { ChatAssistantMessage, ChatMessage, ChatPart, ChatText, ChatToolCall } from "./chat-wire.ts";

export interface ChatMessageOptions {
  readonly wire: string;
  readonly provider: string;
  /** The model's reasoning goes back in the form it came in. */
  readonly replaysReasoning?: boolean;
  /** A turn that calls tools must have this member, if need be an empty one, for the server to go on reasoning. */
  readonly reasoningField?: string;
  /** What the server is told a call is called. Must give different ids for different calls. */
  readonly callId: (call: ToolCallPart) => string;
  /** The server refuses system messages but at the beginning: later ones are told by the user. */
  readonly systemOnlyFirst?: boolean;
  /** The server refuses two messages of the user in a row, so that they are joined. */
  readonly joinsUserMessages?: boolean;
  /** The server refuses a user message right after results: this is said between them. */
  readonly afterResults?: string;
}

/** One group as messages of the chat wire, joined by commas; "" when nothing of it can be sent. */
export function encodeChatGroup(group: MessageGroup, before: MessageGroup | undefined, model: string, options: ChatMessageOptions): string {
  return jsonOf(isAssistantGroup(group) ? assistantMessage(group, model, options) : resultMessages(group, before, options));
}

/** The results of calls that end a conversation; "" when there are none. */
export function closeChatCalls(last: MessageGroup, options: ChatMessageOptions): string {
  return jsonOf(resultMessages([], last, options));
}

function jsonOf(messages: readonly ChatMessage[]): string {
  let json = "";
  for (const message of messages) json += json === "" ? JSON.stringify(message) : `,${JSON.stringify(message)}`;
  return json;
}

/** Neighbours become one message: the results of all their calls follow it. */
function assistantMessage(group: MessageGroup, model: string, options: ChatMessageOptions): readonly ChatAssistantMessage[] {
  let text = "";
  let refusal = "";
  let audio: ChatAssistantMessage["audio"];
  const calls: ToolCallPart[] = [];
  const thoughts: ThinkingPart[] = [];
  for (const part of group.length === 1 ? (group[0] as Message).content : group.flatMap((message) => message.content)) {
    switch (part.type) {
      case "text":
        text += part.text;
        break;
      case "refusal":
        refusal += part.text;
        break;
      case "server-tool":
        if (!isBlank(part.text)) text += `${text === "" ? "" : "\n"}[${part.name}] ${part.text}\n`;
        break;
      case "tool-call":
        calls.push(part);
        break;
      case "file":
        if (part.providerData?.wire === options.wire && part.providerData["audio"] !== undefined)
          audio = { id: echo(part.providerData["audio"]) };
        else text += readableText(part);
        break;
      case "image":
        text += readableText(part);
        break;
      case "thinking":
        if (options.replaysReasoning === true && belongsTo(part.providerData, options.wire, model)) thoughts.push(part);
        break;
      case "other":
        text += readableText(part);
        break;
      case "tool-result":
        break;
    }
  }
  if (text === "" && refusal === "" && calls.length === 0 && audio === undefined) return [];
  const message: { -readonly [M in keyof ChatAssistantMessage]: ChatAssistantMessage[M] } = {
    role: "assistant",
    content: text === "" ? null : text,
  };
  const [call] = calls;
  const functionCall = call !== undefined && calls.length === 1 && isFunctionCall(call, options);
  const reasoningField = calls.length > 0 && !functionCall ? options.reasoningField : undefined;
  if (thoughts.length > 0 || reasoningField !== undefined) Object.assign(message, reasoningMembers(thoughts, text, reasoningField));
  if (refusal !== "") message.refusal = refusal;
  if (audio !== undefined) message.audio = audio;
  if (functionCall) message.function_call = { name: call.name, arguments: callArguments(call) };
  else if (calls.length > 0) message.tool_calls = toolCalls(calls, options);
  return [message];
}

/** Results stand right after their calls; what they show beside text follows in a user message, which alone may hold it. */
function resultMessages(group: readonly Message[], before: MessageGroup | undefined, options: ChatMessageOptions): readonly ChatMessage[] {
  const { matched, strays } = matchResults(before, group);
  const messages: ChatMessage[] = [];
  const shown: ChatPart[] = [];
  for (const { call, result } of matched) {
    const content = result === undefined ? NOT_EXECUTED : outputText(result.output);
    messages.push(
      matched.length === 1 && isFunctionCall(call, options)
        ? { role: "function", name: call.name, content }
        : { role: "tool", tool_call_id: options.callId(call), content },
    );
    if (typeof result?.output === "object") shown.push(...mediaOf(result, options));
  }
  if (shown.length > 0) messages.push({ role: "user", content: shown });
  for (const stray of strays) messages.push({ role: "user", content: strayResultText(stray) });
  for (const message of group) {
    const parts: ChatPart[] = [];
    for (const part of message.content) if (part.type !== "tool-result") parts.push(...userPart(part, options));
    if (parts.length === 0) continue;
    const role =
      message.role === "system" && !(options.systemOnlyFirst === true && (before !== undefined || messages.length > 0)) ? "system" : "user";
    const only = parts.length === 1 ? parts[0] : undefined;
    if (role === "system")
      messages.push({
        role,
        content: message.content
          .map(readableText)
          .filter((text) => text !== "")
          .join("\n"),
      });
    else messages.push({ role, content: only?.type === "text" ? only.text : parts });
  }
  return options.joinsUserMessages === true || options.afterResults !== undefined ? acceptableOrder(messages, options) : messages;
}

function mediaOf(result: ToolResultPart, options: ChatMessageOptions): readonly ChatPart[] {
  const media = (outputParts(result.output) ?? [])
    .filter((part) => part.type === "image" || part.type === "file")
    .flatMap((part) => userPart(part, options));
  return media.length === 0 ? [] : [{ type: "text", text: `From the result of ${result.name}:` }, ...media];
}

function userPart(part: Content, options: ChatMessageOptions): readonly ChatPart[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "server-tool":
      return isBlank(part.text) ? [] : [{ type: "text", text: `[${part.name}] ${part.text}` }];
    case "image":
      return [imagePart(withBytes(part), options)];
    case "file":
      return [filePart(withBytes(part), options)];
    case "other":
      return part.providerData?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "thinking":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

function words(part: Content): readonly ChatText[] {
  const text = readableText(part);
  return text === "" ? [] : [{ type: "text", text }];
}

function imagePart(part: ImagePart, options: ChatMessageOptions): ChatPart {
  const url = part.data === undefined ? webAddress(part) : `data:${part.mediaType};base64,${part.data}`;
  if (url !== undefined) return { type: "image_url", image_url: { url, ...detailOf(part, options) } };
  if (part.url !== undefined) return { type: "text", text: mediaText(part) };
  throw unresolvedBlob(part, options.provider);
}

function detailOf(part: { readonly providerData?: JsonObject }, { wire }: ChatMessageOptions): { readonly detail?: Echo } {
  const detail = part.providerData?.["wire"] === wire ? part.providerData["detail"] : undefined;
  return detail === undefined ? {} : { detail: echo(detail) };
}

function filePart(part: FilePart, { wire, provider }: ChatMessageOptions): ChatPart {
  const fileId = part.providerData?.wire === wire ? part.providerData["fileId"] : undefined;
  if (fileId !== undefined) return { type: "file", file: { file_id: echo(fileId) } };
  const text = textOfFile(part.mediaType, part.data);
  if (text !== undefined) return { type: "text", text: part.name === undefined ? text : `${part.name}:\n${text}` };
  const audio = /^audio\/(?:x-)?(wav|mp3|mpeg|\w+)$/.exec(part.mediaType)?.[1];
  if (part.data !== undefined && audio !== undefined)
    return { type: "input_audio", input_audio: { data: part.data, format: audio === "mpeg" ? "mp3" : audio } };
  if (part.data !== undefined)
    return { type: "file", file: { filename: part.name ?? "file", file_data: `data:${part.mediaType};base64,${part.data}` } };
  if (part.url !== undefined) return { type: "text", text: mediaText(part) };
  throw unresolvedBlob(part, provider);
}

/** Whether the only call of a turn came as `function_call`: there is room for one, so that where there are more, all are told as tool calls. */
function isFunctionCall({ providerData }: ToolCallPart, { wire }: ChatMessageOptions): boolean {
  return providerData?.wire === wire && providerData["functionCall"] === true;
}

function toolCalls(calls: readonly ToolCallPart[], { wire, callId }: ChatMessageOptions): readonly ChatToolCall[] {
  const all: ChatToolCall[] = [];
  for (const call of calls) {
    const id = callId(call);
    const told: ChatToolCall = isFreeText(call, wire)
      ? { id, type: "custom", custom: { name: call.name, input: call.inputText } }
      : { id, type: "function", function: { name: call.name, arguments: callArguments(call) } };
    const extra = call.providerData?.wire === wire ? call.providerData["extraContent"] : undefined;
    all.push(extra === undefined ? told : Object.assign(told, { extra_content: extra }));
  }
  return all;
}
