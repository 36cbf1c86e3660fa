import type { Content, Message } from "@keelson/protocol";
import { approximateTokens } from "../../providers/approximate-tokens.ts";
import { outputParts } from "../../providers/history.ts";
import { approximateMessageTokens } from "../../providers/token-calibration.ts";

/** What vendors count for an image of common size, about. */
const IMAGE_TOKENS = 1600;
const REMOTE_FILE_TOKENS = 5000;
/** Base64 of a document holds fonts and pictures, too. */
const FILE_CHARACTERS_PER_TOKEN = 16;

/** About as many tokens as these messages come to, with what they show and think. */
export function conversationTokens(messages: readonly Message[]): number {
  let tokens = approximateMessageTokens(messages);
  for (const { content } of messages) for (const part of content) tokens += unreadTokens(part);
  return Math.round(tokens);
}

/** Of what is not text. */
function unreadTokens(part: Content): number {
  switch (part.type) {
    case "thinking":
    case "server-tool":
      return approximateTokens(part.text);
    case "image":
      return IMAGE_TOKENS;
    case "file":
      return part.data === undefined ? REMOTE_FILE_TOKENS : part.data.length / FILE_CHARACTERS_PER_TOKEN;
    case "other":
      return approximateTokens(JSON.stringify(part.raw));
    case "tool-result":
      return (outputParts(part.output) ?? []).reduce((sum, inner) => sum + unreadTokens(inner), 0);
    default:
      return 0;
  }
}
