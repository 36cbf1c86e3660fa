import type { Content, Message } from "@keelson/protocol";
import { truncateText } from "../../json/truncate-text.ts";
import { outputText, readableText } from "../../providers/history.ts";

const SAID_BYTES = 4096;
/** An earlier summary stands for much: nothing of it is lost by being summed up again. */
const SUMMARY_BYTES = 32 * 1024;
const CALLED_BYTES = 400;
const RESULT_BYTES = 600;
const WHO: { readonly [K in Message["role"]]: string } = { user: "User", assistant: "Assistant", system: "System", tool: "Tool" };

/** What was said and done, in words: each piece in short, the whole in at most `maxBytes`. */
export function transcriptOf(messages: readonly Message[], maxBytes: number): string {
  const lines: string[] = [];
  for (const { role, content, summary } of messages)
    for (const part of content) {
      const text = summary === true ? truncateText(readableText(part), SUMMARY_BYTES).text : inShort(part);
      if (text !== "") lines.push(`${WHO[role]}: ${text}`);
    }
  return truncateText(lines.join("\n"), maxBytes).text;
}

function inShort(part: Content): string {
  if (part.type === "tool-call") return `calls ${part.name} ${truncateText(part.inputText, CALLED_BYTES).text}`;
  if (part.type === "tool-result")
    return `${part.isError ? "error" : "result"} of ${part.name}: ${truncateText(outputText(part.output), RESULT_BYTES).text}`;
  return truncateText(readableText(part), SAID_BYTES).text;
}
