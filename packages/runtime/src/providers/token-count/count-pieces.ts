import type { Content, InferRequest, JsonValue } from "@keelson/protocol";
import { approximateTokens } from "../approximate-tokens.ts";
import { outputParts } from "../history.ts";
import type { TokenTarget } from "../token-bound.ts";
import type { Tokenizer } from "../tokenizer.ts";
import { DECLARATIONS_END, DECLARATIONS_HEAD, toolDeclaration } from "./tool-declaration.ts";
import { unreadTokens } from "./unread-tokens.ts";

/** Which piece of a request some tokens are of. */
export type PiecePlace =
  | { readonly type: "system" }
  | { readonly type: "tool"; readonly name: string }
  /** The schema of the response. */
  | { readonly type: "output"; readonly name: string }
  /** A part of a message, by their places. */
  | { readonly type: "content"; readonly message: number; readonly part: number }
  /** What stands in no request: marks, the prompts of the vendor. */
  | { readonly type: "vendor" };

export interface CountedPiece {
  readonly place: PiecePlace;
  readonly tokens: number;
}

/** What marks a message or a system prompt, its role among it. */
const MESSAGE_TOKENS = 4;
/** What marks a call, or the result of one; Anthropic writes its id, too. */
const CALL_TOKENS = 4;
const ANTHROPIC_CALL_TOKENS = 25;
/** What marks a tool, where its schema is shown as it is. */
const TOOL_TOKENS = 8;
/** Behind the last message the response is begun for the model. */
const REPLY_TOKENS = 3;
/** Models that think begin it with a token less. */
const THINKING_MODEL = /^(?:o[134](?!-mini-\d|-preview)|gpt-5|codex)/;
const NO_THOUGHTS = /^o1-(?:mini|preview)|chat-latest/;
/** The head of the prompts of `gpt-oss`, which its template writes: who it is, the date, its channels. */
const HARMONY_TOKENS = 60;
const HARMONY_TOOLS_TOKENS = 17;

/** Counts the pieces of a request: exactly, as far as its tokenizer tells, or about, where it has none. */
export function countPieces(request: InferRequest, { wire }: TokenTarget, tokenizer: Tokenizer | undefined): readonly CountedPiece[] {
  const callTokens = wire === "anthropic-messages" ? ANTHROPIC_CALL_TOKENS : CALL_TOKENS;
  const count = tokenizer === undefined ? approximateTokens : (text: string) => tokenizer.count(text);
  const { system, tools = [], output, messages } = request;
  const pieces: CountedPiece[] = [];

  function partTokens(part: Content): number {
    switch (part.type) {
      case "text":
      case "refusal":
        return count(part.text);
      case "tool-call":
        return callTokens + count(part.name) + count(part.inputText);
      case "tool-result": {
        const inner = outputParts(part.output);
        return callTokens + (inner === undefined ? count(textOf(part.output)) : inner.reduce((sum, one) => sum + partTokens(one), 0));
      }
      default:
        return unreadTokens(part);
    }
  }

  if (system !== undefined && system !== "") pieces.push({ place: { type: "system" }, tokens: MESSAGE_TOKENS + count(system) });
  for (const tool of tools) {
    const tokens = tokenizer === undefined ? TOOL_TOKENS + count(JSON.stringify(tool)) : count(toolDeclaration(tool));
    pieces.push({ place: { type: "tool", name: tool.name }, tokens });
  }
  if (output !== undefined) pieces.push({ place: { type: "output", name: output.name }, tokens: count(JSON.stringify(output.schema)) });
  for (const [message, { content }] of messages.entries()) {
    const first = { place: { type: "content", message, part: 0 } as const, tokens: MESSAGE_TOKENS };
    if (content.length === 0) pieces.push(first);
    for (const [part, each] of content.entries())
      pieces.push({ place: { type: "content", message, part }, tokens: (part === 0 ? MESSAGE_TOKENS : 0) + partTokens(each) });
  }
  pieces.push({ place: { type: "vendor" }, tokens: added(request, tokenizer) });
  return pieces;
}

function added({ model, tools = [] }: InferRequest, tokenizer: Tokenizer | undefined): number {
  if (tokenizer === undefined) return REPLY_TOKENS;
  const bare = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  let tokens = THINKING_MODEL.test(bare) && !NO_THOUGHTS.test(bare) ? REPLY_TOKENS - 1 : REPLY_TOKENS;
  if (tools.length > 0) tokens += tokenizer.count(DECLARATIONS_HEAD) + tokenizer.count(DECLARATIONS_END);
  if (tokenizer.name === "o200k_harmony") tokens += HARMONY_TOKENS + (tools.length > 0 ? HARMONY_TOOLS_TOKENS : 0);
  return tokens;
}

function textOf(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
