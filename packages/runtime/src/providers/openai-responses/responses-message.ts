import type {
  Content,
  FilePart,
  ImagePart,
  JsonObject,
  Message,
  ProviderData,
  ServerToolPart,
  TextPart,
  RefusalPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from "@keelson/protocol";
import {
  belongsTo,
  isAssistantGroup,
  isFreeText,
  isBlank,
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
  wireCallId,
  withBytes,
} from "../history.ts";
import { callArguments } from "../call-arguments.ts";
import { textOfFile } from "../request-body.ts";
import { fieldsOf, stringOf } from "../wire-decoder.ts";
import { type Echo, echo, type Exactly } from "../wire-type.ts";
import type {
  ResponsesCall,
  ResponsesCallOutput,
  ResponsesInputPart,
  ResponsesInputText,
  ResponsesItem,
  ResponsesReasoningItem,
  ResponsesSaid,
} from "./responses-wire.ts";
import { closeClientRun, originalItem } from "./server-item.ts";

export interface ResponsesMessageOptions {
  readonly wire: string;
  readonly provider: string;
}

/** The API takes call ids up to this long. */
const MAX_CALL_ID = 64;

/** One group as input items, joined by commas; "" when nothing of it can be sent. */
export function encodeResponsesGroup(
  group: MessageGroup,
  before: MessageGroup | undefined,
  model: string,
  options: ResponsesMessageOptions,
): string {
  const items = isAssistantGroup(group) ? new AssistantItems(model, options).encode(group) : resultItems(group, before, model, options);
  return items.map((item) => JSON.stringify(item)).join(",");
}

/** The answers to calls that end a conversation; "" when there are none. */
export function closeResponsesCalls(last: MessageGroup, model: string, options: ResponsesMessageOptions): string {
  return resultItems([], last, model, options)
    .map((item) => JSON.stringify(item))
    .join(",");
}

/** What only this provider's model can read or knows by its id. */
function isOwn(data: ProviderData | undefined, model: string, { wire, provider }: ResponsesMessageOptions): data is ProviderData {
  return belongsTo(data, wire, model) && (data["provider"] === undefined || data["provider"] === provider);
}

/** Joins the parts of a turn to the items that they came from. */
class AssistantItems {
  readonly #model: string;
  readonly #options: ResponsesMessageOptions;
  readonly #items: ResponsesItem[] = [];
  #message: { readonly id: string; readonly phase: string; readonly content: ResponsesSaid[] } | undefined;
  #reasoning: ThinkingPart[] = [];

  constructor(model: string, options: ResponsesMessageOptions) {
    this.#model = model;
    this.#options = options;
  }

  encode(group: MessageGroup): readonly ResponsesItem[] {
    const parts = group.flatMap((message) => message.content);
    for (const part of parts) this.#part(part, parts);
    this.#close();
    // The API refuses reasoning that nothing follows: an answer that was cut off while the model thought.
    while (fieldsOf(this.#items.at(-1))?.["type"] === "reasoning") this.#items.pop();
    return this.#items;
  }

  #part(part: Content, parts: readonly Content[]): void {
    switch (part.type) {
      case "text":
      case "refusal":
        if (part.text !== "") this.#say(part);
        return;
      case "thinking":
        this.#think(part);
        return;
      case "tool-call":
        this.#add(callItem(part, this.#model, this.#options));
        return;
      case "server-tool":
        if (isReplayable(part, this.#model, this.#options)) this.#add(echo(originalItem(part, parts)));
        else if (!isBlank(part.text)) this.#say({ type: "text", text: `[${part.name}] ${part.text}\n` });
        return;
      case "image":
        // It goes back in the item that made it.
        if (isOwn(part.providerData, this.#model, this.#options) && part.providerData["resultOf"] !== undefined) return;
        this.#say({ type: "text", text: readableText(part) });
        return;
      case "file":
        this.#say({ type: "text", text: readableText(part) });
        return;
      case "other":
        if (part.providerData?.wire === this.#options.wire) this.#add(echo(part.raw));
        else if (readableText(part) !== "") this.#say({ type: "text", text: readableText(part) });
        return;
      case "tool-result":
        return;
    }
  }

  #say(part: TextPart | RefusalPart): void {
    this.#closeReasoning();
    const data = isOwn(part.providerData, this.#model, this.#options) ? part.providerData : undefined;
    const id = stringOf(data?.["itemId"]);
    const phase = stringOf(data?.["phase"]);
    if (this.#message?.id !== id || this.#message.phase !== phase) {
      this.#closeMessage();
      this.#message = { id, phase, content: [] };
    }
    if (part.type === "refusal") this.#message.content.push({ type: "refusal", refusal: part.text });
    else {
      const annotations = data?.["annotations"];
      this.#message.content.push({ type: "output_text", text: part.text, annotations: annotations === undefined ? [] : echo(annotations) });
    }
  }

  #think(part: ThinkingPart): void {
    if (!isOwn(part.providerData, this.#model, this.#options)) return;
    this.#closeMessage();
    this.#reasoning.push(part);
    if (part.providerData["more"] !== true) this.#closeReasoning();
  }

  #add(item: ResponsesItem): void {
    this.#close();
    this.#items.push(item);
  }

  #close(): void {
    this.#closeReasoning();
    this.#closeMessage();
  }

  /** A message with its id as it came; without one, in the short form that every server of this wire takes. */
  #closeMessage(): void {
    const message = this.#message;
    this.#message = undefined;
    if (message === undefined) return;
    const { id, content } = message;
    const phase = message.phase === "" ? {} : { phase: echo(message.phase) };
    if (id !== "") this.#items.push({ type: "message", id, role: "assistant", status: "completed", content, ...phase });
    else
      this.#items.push({
        role: "assistant",
        content: content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join(""),
        ...phase,
      });
  }

  /** Reasoning that is neither encrypted nor open nor kept by the vendor would mean nothing to him. */
  #closeReasoning(): void {
    const parts = this.#reasoning;
    if (parts.length === 0) return;
    this.#reasoning = [];
    const summary: ResponsesReasoningItem["summary"][number][] = [];
    const content: NonNullable<ResponsesReasoningItem["content"]>[number][] = [];
    for (const { text, providerData } of parts) {
      if (text === "") continue;
      if (providerData?.["part"] === "text") content.push({ type: "reasoning_text", text });
      else summary.push({ type: "summary_text", text });
    }
    const last = parts.at(-1)?.providerData;
    const encrypted = last?.["encrypted"];
    if (encrypted === undefined && last?.["stored"] !== true && content.length === 0) return;
    const id = stringOf(last?.["itemId"]);
    const item = {
      type: "reasoning",
      ...(id !== "" && { id }),
      summary,
      ...(content.length > 0 && { content }),
      ...(encrypted !== undefined && { encrypted_content: echo(encrypted) }),
    } satisfies ResponsesReasoningItem;
    this.#items.push(item satisfies Exactly<typeof item, ResponsesReasoningItem>);
  }
}

/** A screenshot cannot be made up, so that calls of a computer are told in words. */
function isReplayable(part: ServerToolPart, model: string, options: ResponsesMessageOptions): boolean {
  const item = part.providerData["item"] as JsonObject | undefined;
  return isOwn(part.providerData, model, options) && item !== undefined && item["type"] !== "computer_call";
}

function callItem(call: ToolCallPart, model: string, options: ResponsesMessageOptions): ResponsesCall {
  const itemId = isOwn(call.providerData, model, options) ? call.providerData["itemId"] : undefined;
  const known = { ...(itemId !== undefined && { id: echo(itemId) }), call_id: responsesCallId(call, options), name: call.name };
  return isFreeText(call, options.wire)
    ? { type: "custom_tool_call", ...known, input: call.inputText }
    : { type: "function_call", ...known, arguments: callArguments(call) };
}

/** What a request calls a call. Ids that the server counts anew in each answer are told apart by the answer's own. */
export function responsesCallId(call: ToolCallPart, { wire }: ResponsesMessageOptions): string {
  const response = call.providerData?.wire === wire ? stringOf(call.providerData["responseId"]) : "";
  const id = wireCallId(call, wire);
  return response === "" ? id : `${response}:${id}`.slice(-MAX_CALL_ID);
}

function resultItems(
  group: readonly Message[],
  before: MessageGroup | undefined,
  model: string,
  options: ResponsesMessageOptions,
): readonly ResponsesItem[] {
  const { matched, strays } = matchResults(before, group);
  const items: ResponsesItem[] = matched.map(({ call, result }): ResponsesCallOutput => {
    const type = isFreeText(call, options.wire) ? "custom_tool_call_output" : "function_call_output";
    return { type, call_id: responsesCallId(call, options), output: result === undefined ? NOT_EXECUTED : resultOutput(result, options) };
  });
  const told = group.flatMap((message) => messageItems(message, options));
  const open = (before ?? [])
    .flatMap((message) => message.content)
    .filter((part): part is ServerToolPart => part.type === "server-tool" && isReplayable(part, model, options))
    .map((part) => part.providerData["item"] as JsonObject);
  items.push(...closeClientRun(open, told, NOT_EXECUTED));
  for (const stray of strays) items.push({ role: "user", content: strayResultText(stray) });
  items.push(...told);
  return items;
}

/** Parts that are items of their own (`mcp_approval_response`, `local_shell_call_output`) stand where the message stands. */
function messageItems(message: Message, options: ResponsesMessageOptions): readonly ResponsesItem[] {
  if (message.role === "system") {
    const content = message.content
      .map(readableText)
      .filter((text) => text !== "")
      .join("\n");
    return content === "" ? [] : [{ role: "system", content }];
  }
  const parts = message.content.flatMap((part) => userPart(part, options));
  const items: ResponsesItem[] = parts.filter((part): part is Echo => !isInputPart(part));
  const content = parts.filter(isInputPart);
  const only = content.length === 1 ? content[0] : undefined;
  if (content.length > 0) items.push({ role: "user", content: only?.type === "input_text" ? only.text : content });
  return items;
}

function isInputPart(part: ResponsesInputPart | Echo): part is ResponsesInputPart {
  return stringOf(fieldsOf(part)?.["type"]).startsWith("input_");
}

/** Text alone as a string, which every server takes; images and files as parts. */
function resultOutput(result: ToolResultPart, options: ResponsesMessageOptions): ResponsesCallOutput["output"] {
  const parts = outputParts(result.output);
  if (parts === undefined || !parts.some((part) => part.type === "image" || part.type === "file")) return outputText(result.output);
  return parts.flatMap((part) => userPart(part, options)).filter(isInputPart);
}

function userPart(part: Content, options: ResponsesMessageOptions): readonly (ResponsesInputPart | Echo)[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "input_text", text: part.text }];
    case "server-tool":
      return isBlank(part.text) ? [] : [{ type: "input_text", text: `[${part.name}] ${part.text}` }];
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

function words(part: Content): readonly ResponsesInputText[] {
  const text = readableText(part);
  return text === "" ? [] : [{ type: "input_text", text }];
}

function imagePart(part: ImagePart, { wire, provider }: ResponsesMessageOptions): ResponsesInputPart {
  const own = part.providerData?.wire === wire ? part.providerData : undefined;
  const detail = own?.["detail"] === undefined ? "auto" : echo(own["detail"]);
  if (own?.["fileId"] !== undefined) return { type: "input_image", file_id: echo(own["fileId"]), detail };
  const url = part.data === undefined ? webAddress(part) : `data:${part.mediaType};base64,${part.data}`;
  if (url !== undefined) return { type: "input_image", image_url: url, detail };
  if (part.url !== undefined) return { type: "input_text", text: mediaText(part) };
  throw unresolvedBlob(part, provider);
}

function filePart(part: FilePart, { wire, provider }: ResponsesMessageOptions): ResponsesInputPart {
  const fileId = part.providerData?.wire === wire ? part.providerData["fileId"] : undefined;
  if (fileId !== undefined) return { type: "input_file", file_id: echo(fileId) };
  const text = textOfFile(part.mediaType, part.data);
  if (text !== undefined) return { type: "input_text", text: part.name === undefined ? text : `${part.name}:\n${text}` };
  const audio = /^audio\/(?:x-)?(wav|mp3|mpeg|\w+)$/.exec(part.mediaType)?.[1];
  if (part.data !== undefined && audio !== undefined)
    return { type: "input_audio", input_audio: { data: part.data, format: audio === "mpeg" ? "mp3" : audio } };
  if (part.data !== undefined)
    return { type: "input_file", filename: part.name ?? "file", file_data: `data:${part.mediaType};base64,${part.data}` };
  const url = webAddress(part);
  if (url !== undefined) return { type: "input_file", file_url: url };
  if (part.url !== undefined) return { type: "input_text", text: mediaText(part) };
  throw unresolvedBlob(part, provider);
}
