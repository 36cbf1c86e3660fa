import {
  addUsd,
  ZERO_USD,
  type Content,
  type InferRequest,
  type Message,
  type ToolCallPart,
  type Usage,
  type Usd,
} from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import { costOf, priceOf } from "../../providers/prices.ts";
import type { TokenTarget } from "../../providers/token-bound.ts";
import type { CountedPiece } from "../../providers/token-count/count-pieces.ts";
import { createTokenCounter, wholePieces, withVendor, type TokenCounter } from "../../providers/token-count/create-token-counter.ts";
import type { DeferredTools } from "./deferred-tools.ts";
import { type SystemFile, systemStretches } from "./system-files.ts";
import { memorySubject } from "../memory-message.ts";

/**
 * Where tokens come from: the system prompt, the schemas of tools and of the response, files (those attached, what a tool read of one, and
 * those whose text the system prompt holds), what was remembered, a summary of what a compaction took out, other messages; and what the vendor adds.
 */
export type XraySource = "system" | "tools" | "file" | "memory" | "summary" | "message" | "vendor";

export interface XrayPart {
  readonly source: XraySource;
  /** Which of them: a tool, the path of a file, who said it. */
  readonly name: string;
  /** Its message's place in the request, where it stands in one. */
  readonly message?: number;
  readonly tokens: number;
  /** How many of them the vendor read from his cache, which holds the beginning of a request; `null` when not told. */
  readonly cachedTokens: number | null;
  /** `null` when the price is unknown. */
  readonly cost: Usd | null;
}

/** A request, token by token. The tokens of its parts add up to exactly `tokens`, their costs to `cost`. */
export interface Xray {
  readonly model: string;
  readonly tokens: number;
  /** `tokens` is what the vendor counted; else it is expected. */
  readonly reported: boolean;
  /** A tokenizer of the model counted the parts; else they are estimates. */
  readonly exact: boolean;
  readonly cachedTokens: number | null;
  /** Of the input. */
  readonly cost: Usd | null;
  readonly parts: readonly XrayPart[];
  /** Tools of sources that are not in the request, and what that saves of it. Absent where there are none. */
  readonly deferred?: DeferredTools;
}

export interface XrayOptions {
  readonly target: TokenTarget;
  /** What the vendor reported for the request. What he counted beyond its parts is the part `vendor`. */
  readonly usage?: Usage | undefined;
  /** Default: what the built-in table knows of the model. */
  readonly price?: ModelPrice | null | undefined;
  /** Default: one that knows of no reports. */
  readonly counter?: TokenCounter | undefined;
  /** Which files a call showed to the model. The result of a call that showed one is a part of the source `file`. Default: of none. */
  readonly filesOf?: ((call: ToolCallPart) => readonly string[] | Promise<readonly string[]>) | undefined;
  /** Which stretches of the system prompt are the text of files: parts of the source `file`. Default: none. */
  readonly systemFiles?: ((system: string) => readonly SystemFile[]) | undefined;
}

/** Says of every token of a request where it comes from, what it costs, and whether it was in the vendor's cache. */
export async function xrayRequest(request: InferRequest, options: XrayOptions): Promise<Xray> {
  checkOptionNames("xrayRequest", options, { target: true, usage: true, price: true, counter: true, filesOf: true, systemFiles: true });
  const {
    target,
    usage,
    price = priceOf(target.model),
    counter = createTokenCounter(),
    filesOf = () => [],
    systemFiles = () => [],
  } = options;
  const counted = await counter.count(request, target);
  const told = usage?.inputTokens ?? null;
  const tokens = told ?? counted.tokens;
  const pieces = told === null ? counted.pieces : wholePieces(withVendor(counted.pieces, told), told);
  const files = await filesByCall(request.messages, filesOf);
  const { system = "" } = request;
  const inOrder = pieces
    .toSorted((a, b) => rank(a, target.wire) - rank(b, target.wire))
    .flatMap((piece): readonly Piece[] => {
      if (piece.place.type !== "system") return [piece];
      return systemStretches(system, systemFiles(system), piece.tokens).map((stretch) => ({ place: piece.place, ...stretch }));
    })
    .filter((piece) => piece.tokens > 0);

  const rates = ratesFor(price, tokens);
  const caches = told === null ? undefined : usage;
  const cachedTokens = caches === undefined || caches.cacheReadTokens === null ? null : Math.min(caches.cacheReadTokens, tokens);
  let cached = cachedTokens ?? 0;
  let written = Math.min(caches?.cacheCreationTokens ?? 0, tokens - cached);
  const parts = inOrder.map((piece): XrayPart => {
    const cacheReadTokens = Math.min(cached, piece.tokens);
    cached -= cacheReadTokens;
    const cacheCreationTokens = Math.min(written, piece.tokens - cacheReadTokens);
    written -= cacheCreationTokens;
    const bought = { inputTokens: piece.tokens, outputTokens: 0, cacheReadTokens, cacheCreationTokens, reasoningTokens: null };
    return {
      ...described(piece, request.messages, files),
      tokens: piece.tokens,
      cachedTokens: cachedTokens === null ? null : cacheReadTokens,
      cost: costOf(bought, rates),
    };
  });
  return {
    model: target.model,
    tokens,
    reported: told !== null,
    exact: counted.exact,
    cachedTokens,
    cost: parts.reduce<Usd | null>((sum, { cost }) => (sum === null || cost === null ? null : addUsd(sum, cost)), rates && ZERO_USD),
    parts,
  };
}

/** Where it stands in what the model reads. A cache holds a beginning of that. */
function rank({ place }: CountedPiece, wire: string): number {
  switch (place.type) {
    case "vendor":
      return 0;
    case "tool":
      return wire === "anthropic-messages" ? 1 : 3;
    case "system":
      return 2;
    case "output":
      return 4;
    case "content":
      return 5 + place.message;
  }
}

/** @property path of the file whose text it is, of a system prompt */
type Piece = CountedPiece & { readonly path?: string };

function described(
  { place, path }: Piece,
  messages: readonly Message[],
  files: ReadonlyMap<string, string>,
): Pick<XrayPart, "source" | "name" | "message"> {
  switch (place.type) {
    case "vendor":
      return { source: "vendor", name: "added by the vendor" };
    case "system":
      return path === undefined ? { source: "system", name: "system prompt" } : { source: "file", name: path };
    case "tool":
      return { source: "tools", name: place.name };
    case "output":
      return { source: "tools", name: `response schema ${place.name}` };
    case "content": {
      const message = messages[place.message] as Message;
      return { ...partOf(message, message.content[place.part], files), message: place.message };
    }
  }
}

function partOf(message: Message, part: Content | undefined, files: ReadonlyMap<string, string>): Pick<XrayPart, "source" | "name"> {
  const subject = memorySubject(message);
  if (subject !== undefined) return { source: "memory", name: subject };
  if (message.summary === true) return { source: "summary", name: "summary of earlier messages" };
  switch (part?.type) {
    case "image":
      return { source: "file", name: part.mediaType };
    case "file":
      return { source: "file", name: part.name ?? part.mediaType };
    case "tool-call":
      return { source: "message", name: `call of ${part.name}` };
    case "tool-result": {
      const file = files.get(part.id);
      return file === undefined ? { source: "message", name: `result of ${part.name}` } : { source: "file", name: file };
    }
    case "thinking":
      return { source: "message", name: "thinking" };
    default:
      return { source: "message", name: message.role };
  }
}

async function filesByCall(
  messages: readonly Message[],
  filesOf: (call: ToolCallPart) => readonly string[] | Promise<readonly string[]>,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { content } of messages)
    for (const part of content) {
      if (part.type !== "tool-call") continue;
      const [file, ...more] = await filesOf(part);
      if (file !== undefined && more.length === 0) files.set(part.id, file);
    }
  return files;
}

/** Beyond some size all of a prompt costs more, its parts too. */
function ratesFor(price: ModelPrice | null, tokens: number): ModelPrice | null {
  if (price?.longPrompt === undefined) return price;
  const { longPrompt, ...usual } = price;
  const { aboveInputTokens, ...long } = longPrompt;
  return tokens > aboveInputTokens ? { ...usual, ...long } : usual;
}
