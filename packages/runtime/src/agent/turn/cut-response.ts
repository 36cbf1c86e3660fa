import type { Content, Message } from "@keelson/protocol";

/** What people saw of a response that broke off. */
export interface CutResponse {
  /** Of the model call. */
  readonly key: string;
  readonly message: Message;
}

/**
 * What of a broken response can stand in a conversation: what it said, as plain text. Calls that nobody runs and reasoning without
 * its signature are refused by vendors, and what else a vendor wants back belongs to responses that are whole.
 */
export function cutResponse(key: string, content: readonly Content[]): CutResponse | undefined {
  const said = content.flatMap((part): readonly Content[] =>
    (part.type === "text" || part.type === "refusal") && part.text.trim() !== "" ? [{ type: part.type, text: part.text }] : [],
  );
  return said.length === 0 ? undefined : { key, message: { role: "assistant", content: said, cut: true } };
}
