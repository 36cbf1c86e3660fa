import type { Content, JsonValue, ToolResultPart } from "@keelson/protocol";
import { truncateText } from "../../json/truncate-text.ts";
import { outputText } from "../../providers/history.ts";
import type { Entry } from "./entry.ts";

const BYTES_PER_TOKEN = 3;
const LEAST_BYTES = 500;
const NOTE_BYTES = 160;

/**
 * Every result that is left and not pinned is cut to its share of `tokens`, with its beginning and its end.
 * @returns nothing where none is longer than that
 */
export function cutResults(entries: readonly Entry[], tokens: number): readonly Entry[] | undefined {
  const results = entries.flatMap(({ message, policy }) =>
    policy === "pinned" ? [] : message.content.filter(({ type }) => type === "tool-result"),
  );
  const share = Math.max(LEAST_BYTES, Math.floor((tokens * BYTES_PER_TOKEN) / Math.max(1, results.length)));
  let isCut = false;
  const cut = entries.map((entry) => {
    if (entry.policy === "pinned") return entry;
    const content = entry.message.content.map((part): Content => {
      if (part.type !== "tool-result" || sizeOf(part) <= share) return part;
      isCut = true;
      return { ...part, output: cutOutput(part, share) };
    });
    return content.every((part, index) => part === entry.message.content[index])
      ? entry
      : { ...entry, message: { ...entry.message, content } };
  });
  return isCut ? cut : undefined;
}

function sizeOf({ output }: ToolResultPart): number {
  return Buffer.byteLength(typeof output === "string" ? output : JSON.stringify(output));
}

function cutOutput(part: ToolResultPart, bytes: number): JsonValue {
  const { text } = truncateText(outputText(part.output), Math.max(LEAST_BYTES - NOTE_BYTES, bytes - NOTE_BYTES));
  return `${text}\n[This result did not fit and was cut. Ask for less at once to see the rest.]`;
}
