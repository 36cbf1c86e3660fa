import type { Content, FilePart, ImagePart, JsonObject, Message, ProviderData, ToolResultPart } from "@keelson/protocol";
import {
  belongsTo,
  groupMessages,
  isAssistantGroup,
  isBlank,
  matchResults,
  type MessageGroup,
  NOTHING_SAID,
  objectInput,
  outputParts,
  outputText,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  unresolvedBlob,
  wireCallId,
  withBytes,
  withoutEmptyEnd,
} from "../history.ts";
import { textOfFile } from "../request-body.ts";
import type { AiSdkVersion } from "./ai-sdk-model.ts";

export interface AiSdkPromptOptions {
  readonly wire: string;
  readonly provider: string;
  /** What `ProviderData.model` must be for its metadata to go back. */
  readonly model: string;
  readonly version: AiSdkVersion;
}

/** A part of a prompt: `URL`s in it make it no JSON. */
type PromptPart = { readonly [name: string]: unknown };
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly PromptPart[];
}

/** A conversation as the AI SDK's models take it. */
export function encodeAiSdkPrompt(system: string | undefined, messages: readonly Message[], options: AiSdkPromptOptions): PromptMessage[] {
  const prompt: PromptMessage[] = system === undefined || system === "" ? [] : [{ role: "system", content: system }];
  let before: MessageGroup | undefined;
  for (const group of groupMessages(messages, 0)) {
    if (isAssistantGroup(group)) push(prompt, "assistant", assistantParts(group, options));
    else pushResults(prompt, group, before, options);
    before = group;
  }
  if (before !== undefined && isAssistantGroup(before)) pushResults(prompt, [], before, options);
  if (messages.length > 0 && prompt.every(({ role }) => role === "system")) push(prompt, "user", [{ type: "text", text: NOTHING_SAID }]);
  return prompt;
}

function push(prompt: PromptMessage[], role: "user" | "assistant" | "tool", content: readonly PromptPart[]): void {
  if (content.length > 0) prompt.push({ role, content });
}

function pushResults(
  prompt: PromptMessage[],
  group: readonly Message[],
  before: MessageGroup | undefined,
  options: AiSdkPromptOptions,
): void {
  const { matched, strays } = matchResults(before, group);
  const results = matched.map(({ call, result }) => ({
    type: "tool-result",
    toolCallId: wireCallId(call, options.wire),
    toolName: call.name,
    output: outputOf(result, options),
  }));
  push(prompt, "tool", results);
  const parts: PromptPart[] = strays.map((stray) => ({ type: "text", text: strayResultText(stray) }));
  for (const message of group) {
    for (const part of message.content) {
      if (message.role !== "system") parts.push(...userPart(part, options));
      // Most vendors take no system message within a conversation.
      else if (part.type === "text" && !isBlank(part.text))
        parts.push({ type: "text", text: `<system-reminder>\n${part.text}\n</system-reminder>` });
    }
  }
  push(prompt, "user", parts);
}

function userPart(part: Content, options: AiSdkPromptOptions): readonly PromptPart[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...carried(part.providerData, options) }];
    case "image":
    case "file":
      return [filePart(part, options)];
    case "server-tool":
      return isBlank(part.text) ? [] : [{ type: "text", text: `[${part.name}] ${part.text}` }];
    case "other":
      return words(readableText(part));
    case "thinking":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

function words(text: string): readonly PromptPart[] {
  return isBlank(text) ? [] : [{ type: "text", text }];
}

function assistantParts(group: MessageGroup, options: AiSdkPromptOptions): readonly PromptPart[] {
  return withoutEmptyEnd(group).flatMap((message) => message.content.flatMap((part) => assistantPart(part, options)));
}

function assistantPart(part: Content, options: AiSdkPromptOptions): readonly PromptPart[] {
  switch (part.type) {
    case "text": {
      const metadata = carried(part.providerData, options);
      return part.text === "" && metadata === undefined ? [] : [{ type: "text", text: part.text, ...metadata }];
    }
    case "thinking":
      // Thinking counts only for the model that had it.
      return belongsTo(part.providerData, options.wire, options.model)
        ? [{ type: "reasoning", text: part.text, ...carried(part.providerData, options) }]
        : [];
    case "tool-call":
      return [
        {
          type: "tool-call",
          toolCallId: wireCallId(part, options.wire),
          toolName: part.name,
          input: objectInput(part),
          ...carried(part.providerData, options),
        },
      ];
    case "server-tool":
    case "other": {
      const kept = belongsTo(part.providerData, options.wire, options.model) ? part.providerData["part"] : undefined;
      if (kept !== undefined) return [{ ...(kept as JsonObject), ...carried(part.providerData, options) }];
      if (part.type === "other") return words(readableText(part));
      return isBlank(part.text) ? [] : words(`[${part.name}] ${part.text}`);
    }
    case "image":
    case "file":
      return [filePart(part, options)];
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "tool-result":
      return [];
  }
}

/** What the model gave as metadata goes back as options, as the AI SDK itself does it. */
function carried(data: ProviderData | undefined, { wire, model }: AiSdkPromptOptions): { readonly providerOptions: unknown } | undefined {
  if (!belongsTo(data, wire, model) || data["providerMetadata"] === undefined) return undefined;
  return { providerOptions: data["providerMetadata"] };
}

function outputOf(result: ToolResultPart | undefined, options: AiSdkPromptOptions): PromptPart {
  if (result === undefined) return { type: "error-text", value: NOT_EXECUTED };
  const { output, isError } = result;
  const parts = outputParts(output);
  if (parts !== undefined && isError !== true) return { type: "content", value: parts.flatMap((part) => outputPart(part, options)) };
  const text = typeof output === "string" || parts !== undefined;
  if (text) return { type: isError === true ? "error-text" : "text", value: outputText(output) };
  return { type: isError === true ? "error-json" : "json", value: output };
}

/** Each version has its own words for media in results. */
function outputPart(part: Content, options: AiSdkPromptOptions): readonly PromptPart[] {
  if (part.type === "text" || part.type === "refusal") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type !== "image" && part.type !== "file") return [];
  const { mediaType, data, url } = withBytes(part);
  if (options.version === 4) return [filePart(part, options)];
  if (data === undefined) {
    if (url === undefined) throw unresolvedBlob(part, options.provider);
    return options.version === 3 ? [{ type: `${part.type}-url`, url }] : [{ type: "text", text: `[${part.type} at ${url}]` }];
  }
  if (options.version === 2) return [{ type: "media", data, mediaType }];
  return [{ type: `${part.type}-data`, data, mediaType, ...(part.type === "file" && part.name !== undefined && { filename: part.name }) }];
}

function filePart(part: ImagePart | FilePart, options: AiSdkPromptOptions): PromptPart {
  const { mediaType, data, url } = withBytes(part);
  const text = part.type === "file" ? textOfFile(mediaType, data) : undefined;
  const name = part.type === "file" ? part.name : undefined;
  if (text !== undefined) return { type: "text", text: name === undefined ? text : `${name}:\n${text}` };
  if (data === undefined && url === undefined) throw unresolvedBlob(part, options.provider);
  const bare = data ?? new URL(url as string);
  const tagged = data === undefined ? { type: "url", url: bare } : { type: "data", data };
  return {
    type: "file",
    mediaType,
    data: options.version === 4 ? tagged : bare,
    ...(name !== undefined && { filename: name }),
    ...carried(part.providerData, options),
  };
}
