import { AgentError, messageCodec, type JsonValue, type Message } from "@keelson/protocol";
import type { Context, Operation } from "./rule.ts";

export type MessageOperationType = "inject-message" | "inject-system";

/**
 * Puts a message before the model. Rules may look at it, change it, or drop it.
 * @param put gets the message as rules left it; isn't called where one dropped it
 */
export function messageOperation<Output>(
  type: MessageOperationType,
  key: string | undefined,
  message: Message,
  put: (message: Message, context: Context) => Output | Promise<Output>,
): Operation<Output | undefined> {
  const given = { message };
  return {
    type,
    ...(key !== undefined && { key }),
    input: given,
    execute: async (context, input) => await put(input === given ? message : messageOf(type, input), context),
    accept: () => undefined,
  };
}

/** What a rule made of the message. */
function messageOf(type: MessageOperationType, input: JsonValue | undefined): Message {
  try {
    return messageCodec.decode((input as { readonly message?: JsonValue } | null | undefined)?.message ?? null);
  } catch (cause) {
    const message = `a rule put something in the place of a message that is none (${cause instanceof Error ? cause.message : String(cause)}): return "modify-input" with { message }, or "skip" to drop it`;
    throw new AgentError({ kind: "panic", callback: `a rule on ${type}`, message }, { cause });
  }
}
