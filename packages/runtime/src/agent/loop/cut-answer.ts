import type { Content, Message } from "@keelson/protocol";
import type { Loop } from "./loop.ts";

/** What people saw of an answer that broke off. */
export interface CutAnswer {
  /** Of the model call. */
  readonly key: string;
  readonly message: Message;
}

/**
 * What of a broken answer can stand in a conversation: what it said, as plain text. Calls that nobody runs and reasoning without
 * its signature are refused by vendors, and what else a vendor wants back belongs to answers that are whole.
 */
export function cutAnswer(key: string, content: readonly Content[]): CutAnswer | undefined {
  const said = content.flatMap((part): readonly Content[] =>
    (part.type === "text" || part.type === "refusal") && part.text.trim() !== "" ? [{ type: part.type, text: part.text }] : [],
  );
  return said.length === 0 ? undefined : { key, message: { role: "assistant", content: said, cut: true } };
}

/** At the end of a run: what the answer said that ended with it, or that nobody asks for again, joins the conversation. */
export function keepCutAnswer(loop: Loop): void {
  const { cut } = loop;
  if (cut === undefined) return;
  loop.cut = undefined;
  // Rules around an answer are not asked: nothing goes on behind this one.
  loop.execution.put(`${cut.key}/message`, "message", { message: cut.message });
}
