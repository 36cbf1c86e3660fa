import type { JsonObject, JsonValue } from "@keelson/protocol";

interface ChatOrder {
  readonly joinsUserMessages?: boolean;
  readonly afterResults?: string;
}

/** The messages between two turns of the assistant as servers want them that check the order of roles. */
export function acceptableOrder(messages: readonly JsonObject[], { joinsUserMessages, afterResults }: ChatOrder): readonly JsonObject[] {
  if (joinsUserMessages !== true && afterResults === undefined) return messages;
  const ordered: JsonObject[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    if (joinsUserMessages === true && last !== undefined && last["role"] === "user" && message["role"] === "user") {
      ordered[ordered.length - 1] = { role: "user", content: joined(last["content"], message["content"]) };
      continue;
    }
    if (afterResults !== undefined && last?.["role"] === "tool" && message["role"] !== "tool")
      ordered.push({ role: "assistant", content: afterResults });
    ordered.push(message);
  }
  return ordered;
}

function joined(a: JsonValue | undefined, b: JsonValue | undefined): JsonValue {
  return typeof a === "string" && typeof b === "string" ? `${a}\n\n${b}` : [...parts(a), ...parts(b)];
}

function parts(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as readonly JsonValue[]) : [];
}
