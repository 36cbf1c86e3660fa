import type { JsonObject, JsonValue, ProviderData, ThinkingPart } from "@keelson/protocol";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";
import type { ChatSaid } from "./chat-wire.ts";

/** Members of a message that hold reasoning as text. Some servers send the same text in two of them: the first counts. */
const FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

/** Gathers what a response says of its reasoning, so that it can go back in the form it came in. */
export class ChatReasoning {
  readonly #origin: ProviderData;
  #field: string | undefined;
  #details: JsonObject[] = [];
  #signature = "";

  constructor(wire: string, model: string) {
    this.#origin = { wire, model };
  }

  /** The text that this message or delta adds. `reasoning_details` repeat it, typed and signed (OpenRouter), or hold it alone (Snowflake). */
  read(message: ChatSaid): string {
    let text = "";
    for (const name of FIELDS) {
      text = stringOf(message[name]);
      if (text === "") continue;
      this.#field = name;
      break;
    }
    const details = message["reasoning_details"];
    if (!Array.isArray(details)) return text;
    for (const value of details) {
      const detail = fieldsOf(value);
      if (detail === undefined) continue;
      addDetail(this.#details, detail as JsonObject);
      if (this.#field === undefined) text += stringOf(detail["text"]) || stringOf(detail["summary"]);
    }
    return text;
  }

  /** The text of a part of the content (Mistral). */
  readPart(part: Fields): string {
    this.#field = "content";
    this.#signature = stringOf(part["signature"]) || this.#signature;
    const inner = part["thinking"];
    return Array.isArray(inner) ? inner.map((piece) => stringOf(fieldsOf(piece)?.["text"])).join("") : stringOf(inner);
  }

  /** What the segment that ends now must keep, and what no segment kept that ended before. */
  take(): ProviderData | undefined {
    const details = this.#details;
    const signature = this.#signature;
    this.#details = [];
    this.#signature = "";
    if (this.#field === undefined && details.length === 0) return undefined;
    return {
      ...this.#origin,
      ...(this.#field !== undefined && { field: this.#field }),
      ...(signature !== "" && { signature }),
      ...(details.length > 0 && { details }),
    };
  }

  /** Details that came after the text they belong to: signatures, encrypted reasoning. */
  get pending(): boolean {
    return this.#details.length > 0;
  }
}

/**
 * The members of an assistant's message that give its reasoning back; `required` is one that must be there. Its content too, where
 * the reasoning came as parts of the content.
 */
export function reasoningMembers(thoughts: readonly ThinkingPart[], text: string, required: string | undefined): JsonObject {
  const members: Record<string, JsonValue> = {};
  const details: JsonObject[] = [];
  const content: JsonObject[] = [];
  for (const { text: thought, providerData } of thoughts) {
    const known = providerData?.["details"];
    const field = stringOf(providerData?.["field"]);
    if (Array.isArray(known)) for (const detail of known) addDetail(details, detail as JsonObject);
    else if (field === "content") content.push(thinkingPart(thought, stringOf(providerData?.["signature"])));
    else if (field !== "") members[field] = stringOf(members[field]) + thought;
  }
  if (details.length > 0) members["reasoning_details"] = details;
  if (content.length > 0) members["content"] = text === "" ? content : [...content, { type: "text", text }];
  if (required !== undefined) members[required] ??= "";
  return members;
}

function thinkingPart(text: string, signature: string): JsonObject {
  return { type: "thinking", thinking: [{ type: "text", text }], ...(signature !== "" && { signature }) };
}

/** Streams cut a detail into pieces that share index and type; what is text in them belongs together, and the last of the rest counts. */
function addDetail(details: JsonObject[], piece: JsonObject): void {
  const at =
    typeof piece["index"] === "number"
      ? details.findIndex((detail) => detail["index"] === piece["index"] && detail["type"] === piece["type"])
      : -1;
  const known = details[at];
  if (known === undefined) {
    details.push(piece);
    return;
  }
  const joined: Record<string, JsonValue | undefined> = { ...known };
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = known[name];
    joined[name] =
      typeof value === "string" && typeof before === "string" && (name === "text" || name === "summary" || name === "data")
        ? before + value
        : value;
  }
  details[at] = joined;
}
