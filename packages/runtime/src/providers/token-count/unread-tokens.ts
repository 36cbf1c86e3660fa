import type { Content } from "@keelson/protocol";
import { approximateTokens } from "../approximate-tokens.ts";
import { outputParts } from "../history.ts";

/** What vendors count for an image of common size, about. */
const IMAGE_TOKENS = 1600;
const REMOTE_FILE_TOKENS = 5000;
/** Base64 of a document holds fonts and pictures, too. */
const FILE_CHARACTERS_PER_TOKEN = 16;

/** About as many tokens as a part comes to where it is no text that everybody counts alike: images, files, thoughts, what vendors ran. */
export function unreadTokens(part: Content): number {
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
