import type { Content, JsonValue, Message } from "@keelson/protocol";
import { approximateTokens } from "./approximate-tokens.ts";
import { outputParts } from "./history.ts";

/** What messages weigh. */
export interface Weight {
  readonly tokens: number;
  readonly messages: number;
  /** Images, files, thoughts and what vendors ran, which each of them counts in his own way. */
  readonly opaque: number;
}

/** What marks a message. */
export const MESSAGE_TOKENS = 4;
const CALL_TOKENS = 8;

/** About as many tokens as messages come to on any wire; images, files and what vendors run count as nothing. */
export function approximateMessageTokens(messages: readonly Message[]): number {
  const { tokens, messages: count } = weigh(messages);
  return Math.round(tokens + MESSAGE_TOKENS * count);
}

export function weigh(messages: readonly Message[]): Weight {
  let tokens = 0;
  let opaque = 0;
  for (const message of messages) {
    let weight = weights.get(message);
    if (weight === undefined) weights.set(message, (weight = weighParts(message.content)));
    tokens += weight.tokens;
    opaque += weight.opaque;
  }
  return { tokens, messages: messages.length, opaque };
}

type PartsWeight = Omit<Weight, "messages">;

/**
 * Holds what each message weighs: it never changes, and without counts of the vendor all of a conversation is weighed at each turn. 300 turns of two messages take 0.1 s
 * of such estimates instead of 2.4 s.
 */
const weights = new WeakMap<Message, PartsWeight>();

function weighParts(parts: readonly Content[]): PartsWeight {
  let tokens = 0;
  let opaque = 0;
  for (const part of parts) {
    switch (part.type) {
      case "text":
      case "refusal":
        tokens += approximateTokens(part.text);
        break;
      case "tool-call":
        tokens += CALL_TOKENS + approximateTokens(part.inputText) + approximateTokens(part.name);
        break;
      case "tool-result": {
        const inner = outputParts(part.output);
        const within = inner === undefined ? { tokens: approximateTokens(textOf(part.output)), opaque: 0 } : weighParts(inner);
        tokens += CALL_TOKENS + within.tokens;
        opaque += within.opaque;
        break;
      }
      case "thinking":
      case "server-tool":
      case "image":
      case "file":
      case "other":
        opaque += 1;
    }
  }
  return { tokens, opaque };
}

function textOf(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
