import type {
  Content,
  JsonObject,
  Message,
  ProviderData,
  ServerToolPart,
  TextPart,
  RefusalPart,
  ThinkingPart,
  ToolCallPart,
} from "@keelson/protocol";
import {
  belongsTo,
  isAssistantGroup,
  isFreeText,
  isBlank,
  matchResults,
  type MessageGroup,
  readableText,
  strayResultText,
  NOT_EXECUTED,
  wireCallId,
} from "../history.ts";
import { callArguments } from "../call-arguments.ts";
import { fieldsOf, stringOf } from "../wire-decoder.ts";
import { echo, type Exactly } from "../wire-type.ts";
import type { ResponsesCall, ResponsesCallOutput, ResponsesItem, ResponsesReasoningItem, ResponsesSaid } from "./responses-wire.ts";
import { messageItems, type ResponsesMessageOptions, resultOutput } from "./responses-input.ts";
import { closeClientRun, originalItem } from "./server-item.ts";

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

/** The results of calls that end a conversation; "" when there are none. */
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
    // The API refuses reasoning that nothing follows: a response that was cut off while the model thought.
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

/** What a request calls a call. Ids that the server counts anew in each response are told apart by the response's own. */
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
