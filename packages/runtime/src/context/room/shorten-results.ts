import type { Content, Message, ToolResultPart } from "@keelson/protocol";
import { outputText } from "../../providers/history.ts";
import { conversationTokens } from "./conversation-tokens.ts";
import type { Entry } from "./entry.ts";
import { tailStart } from "./tail-start.ts";

/** A result that is hardly longer than its line stays. */
const SHORT_BYTES = 400;
const SHOWN_CHARACTERS = 80;

/**
 * A line in the place of each old result of a tool, the oldest first, until the conversation comes to about `tokens`. What the
 * model has not responded to yet stays whole, and so does what is pinned.
 * @returns nothing where there is none to shorten
 */
export function shortenResults(
  entries: readonly Entry[],
  tokens: number,
): { readonly entries: readonly Entry[]; readonly shortened: number } | undefined {
  const kept = tailStart(entries, tokens);
  let left = conversationTokens(entries.map(({ message }) => message));
  let shortened = 0;
  const shorter = entries.map((entry, index) => {
    if (index >= kept || left <= tokens || entry.policy === "pinned" || entry.message.role !== "tool") return entry;
    const message = inLines(entry.message);
    if (message === entry.message) return entry;
    left -= conversationTokens([entry.message]) - conversationTokens([message]);
    shortened++;
    return { ...entry, message };
  });
  return shortened === 0 ? undefined : { entries: shorter, shortened };
}

/** The message with a line in the place of each long result; the same message where it has none. */
export function inLines(message: Message): Message {
  const content = message.content.map((part): Content =>
    part.type === "tool-result" && isLong(part) ? { ...part, output: lineOf(part) } : part,
  );
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

function isLong({ output }: ToolResultPart): boolean {
  return (typeof output === "string" ? output.length : JSON.stringify(output).length) > SHORT_BYTES;
}

function lineOf({ name, output }: ToolResultPart): string {
  const text = outputText(output);
  const beginning = text
    .slice(0, SHOWN_CHARACTERS * 2)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, SHOWN_CHARACTERS);
  return `[The result of ${name} (${Buffer.byteLength(text)} bytes) was left out to make room. It began: ${beginning} … Call the tool again if it is needed.]`;
}
