import type { Content, InferRequest, JsonObject, JsonValue, Message, ToolSchema } from "@keelson/protocol";
import { outputParts } from "./history.ts";
import { findListed } from "./listed-models.ts";

/** Where a request goes, as far as its tokens depend on it. */
export interface TokenTarget {
  /** `Provider.wire`. */
  readonly wire: string;
  readonly model: string;
  /** Tokens that the model can read; default: what the built-in table knows of it. A request over it is refused, and costs nothing. */
  readonly contextWindow?: number | null;
}

/** What marks a message, a part, a call and a tool for the model, on any wire. */
const FRAME_TOKENS = 64;
/** The largest image on any vendor but one: Anthropic counts up to 4,784, OpenAI 3,800, Gemini 2,240. */
const IMAGE_TOKENS = 8192;
/** `gpt-4o-mini` pays for images what `gpt-4o` pays in money: 2,833 and 5,667 for each of eight tiles. */
const MINI_IMAGE_TOKENS = 48_192;
/** A page of a document, with its picture; the least that a file is taken for. */
const PAGE_TOKENS = 8192;
/** More than any model reads, where its window is unknown. */
const UNSEEN_TOKENS = 2_000_000;
/** A file that the vendor fetches himself may fill the window. */
const REMOTE_FILE_TOKENS = UNSEEN_TOKENS;
/** Tables of windows are rounded: 1,000,000 stands for 1,048,576. */
const WINDOW_SLACK_PERCENT = 110;
/** Members of a request by which the model reads what does not stand in it: tools that the vendor runs, and what he keeps. */
const UNSEEN_MEMBERS = [
  "mcp_servers",
  "previous_response_id",
  "conversation",
  "cachedContent",
  "web_search_options",
  "plugins",
  "search_parameters",
  "container",
  "prompt",
];
/** Models that search before they respond. */
const SEARCHING_MODEL = /(?:^|[/-])(?:compound|sonar|search|deep-research)(?:-|$|:)/;

interface Hidden {
  /** What hosts put before every prompt: up to 1,600 tokens at Venice, 680 at xAI; Ollama counts thoughts as input too. */
  readonly base: number;
  /** What vendors and templates say of how tools are called and how the response must look. */
  readonly tools: number;
}

const HIDDEN: { readonly [wire: string]: Hidden } = {
  "anthropic-messages": { base: 64, tools: 1024 },
  "openai-responses": { base: 1024, tools: 1024 },
  "openai-chat": { base: 2048, tools: 2048 },
  "gemini": { base: 64, tools: 1024 },
  "ollama-chat": { base: 4096, tools: 2048 },
  "ai-sdk": { base: 2048, tools: 2048 },
};
const NOTHING_HIDDEN: Hidden = { base: 0, tools: 0 };

/**
 * More input tokens than the vendor can count for this request. A token is at least one byte of text; images and files have
 * bounds of their own; tools that the vendor runs, and what he keeps, let the model read as much as its window holds.
 */
export function inputTokenBound(request: InferRequest, target: TokenTarget): number {
  let tokens = Buffer.byteLength(request.system ?? "") + toolTokenBound(request.tools ?? []);
  for (const message of request.messages) tokens += messageTokenBound(message);
  return withHidden(tokens, request, target);
}

/** The bound of a request whose messages, system prompt and tools were counted already, as they were added. */
export function withHidden(visible: number, request: InferRequest, target: TokenTarget): number {
  const { base, tools } = Object.hasOwn(HIDDEN, target.wire) ? (HIDDEN[target.wire] as Hidden) : NOTHING_HIDDEN;
  const { output, extra } = request;
  let bound = visible + base;
  if (output !== undefined) bound += tools + byteLength(output.schema);
  if (extra !== undefined) bound += byteLength(extra);
  if ((request.tools?.length ?? 0) > 0 || extra?.["tools"] !== undefined) bound += tools;
  if (target.model.includes("4o-mini")) bound += imagesIn(request.messages) * (MINI_IMAGE_TOKENS - IMAGE_TOKENS);
  const window = target.contextWindow ?? findListed(target.model)?.contextWindow ?? UNSEEN_TOKENS;
  // The vendor may call his tools again and again, but each time the model reads no more than it can.
  return readsUnseen(extra, target.model) ? bound + window : Math.min(bound, Math.ceil((window * WINDOW_SLACK_PERCENT) / 100));
}

/** A message's part of the bound; the sum over a conversation is that of its messages. */
export function messageTokenBound(message: Message): number {
  let tokens = FRAME_TOKENS;
  for (const part of message.content) tokens += FRAME_TOKENS + partBound(part);
  return tokens;
}

export function toolTokenBound(tools: readonly ToolSchema[]): number {
  return tools.reduce((bound, tool) => bound + FRAME_TOKENS + byteLength(tool), 0);
}

function partBound(part: Content): number {
  // Signatures and encrypted reasoning stand for no more tokens than they have bytes.
  const data = "providerData" in part && part.providerData !== undefined ? byteLength(part.providerData) : 0;
  switch (part.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "server-tool":
      return data + Buffer.byteLength(part.text);
    case "tool-call":
      return data + Buffer.byteLength(part.inputText) + Buffer.byteLength(part.name);
    case "tool-result":
      return Buffer.byteLength(part.name) + (typeof part.output === "string" ? Buffer.byteLength(part.output) : outputBound(part.output));
    case "image":
      return data + IMAGE_TOKENS;
    case "file":
      return data + (part.data === undefined ? REMOTE_FILE_TOKENS : Math.max(part.data.length, PAGE_TOKENS));
    case "other":
      return data + byteLength(part.raw);
  }
}

function outputBound(output: JsonValue): number {
  const parts = outputParts(output);
  if (parts === undefined) return byteLength(output);
  let tokens = 0;
  for (const part of parts) tokens += FRAME_TOKENS + partBound(part);
  return tokens;
}

/** Whether the model reads what does not stand in the request: what the vendor's own tools find, and what he keeps. */
export function readsUnseen(extra: JsonObject | undefined, model: string): boolean {
  if (SEARCHING_MODEL.test(model)) return true;
  if (extra === undefined) return false;
  if (UNSEEN_MEMBERS.some((name) => extra[name] !== undefined && extra[name] !== null)) return true;
  return Array.isArray(extra["tools"]) && (extra["tools"] as readonly JsonObject[]).some(isRunByVendor);
}

/** Functions and free-text tools are run here. */
function isRunByVendor(tool: JsonObject): boolean {
  const { type } = tool;
  if (tool["function"] !== undefined || tool["input_schema"] !== undefined || tool["functionDeclarations"] !== undefined) return false;
  return type !== "function" && type !== "custom";
}

function imagesIn(messages: readonly Message[]): number {
  const count = (parts: readonly Content[]): number =>
    parts.reduce(
      (sum, part) => sum + (part.type === "image" ? 1 : part.type === "tool-result" ? count(outputParts(part.output) ?? []) : 0),
      0,
    );
  return messages.reduce((sum, { content }) => sum + count(content), 0);
}

function byteLength(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}
