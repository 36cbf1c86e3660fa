import type { ServerRequest } from "./server-turn.ts";

/** A message of a request, whatever its wire; where calls and results are items of their own, each is a message. */
export interface RequestMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  /** The names of the tools that are called. */
  readonly calls: readonly string[];
  /** What calls returned, in words. */
  readonly results: readonly string[];
  /** How many images it shows, in results too. */
  readonly images: number;
}

interface Fields {
  readonly [name: string]: unknown;
}

/** What a request says, for scripts that react to it and for tests that look what was said. */
export function requestMessages({ wire, body }: Pick<ServerRequest, "wire" | "body">): readonly RequestMessage[] {
  const messages: readonly RequestMessage[] = READERS[wire](body);
  return messages.filter(({ text, calls, results, images }) => text !== "" || calls.length > 0 || results.length > 0 || images > 0);
}

const READERS: { readonly [wire in ServerRequest["wire"]]: (body: Fields) => readonly RequestMessage[] } = {
  "anthropic-messages": (body) => [
    message("system", body["system"]),
    ...list(body["messages"]).map((each) => message(roleOf(each), each["content"])),
  ],
  "openai-chat": (body) => list(body["messages"]).map(chatMessage),
  "openai-responses": (body) => [message("system", body["instructions"]), ...list(body["input"]).map(responsesItem)],
  "gemini": (body) => [
    message("system", field(body["systemInstruction"], "parts")),
    ...list(body["contents"]).map((each) => message(each["role"] === "model" ? "assistant" : "user", each["parts"])),
  ],
  "ollama-chat": (body) => list(body["messages"]).map(chatMessage),
};

function message(role: RequestMessage["role"], content: unknown): RequestMessage {
  const parts = typeof content === "string" ? [{ text: content }] : list(content);
  const results = parts.filter((part) => part["type"] === "tool_result" || part["functionResponse"] !== undefined);
  const shown = parts.filter((part) => part["thought"] !== true && part["type"] !== "thinking");
  const calls = parts.map((part) => (part["type"] === "tool_use" ? part["name"] : field(part["functionCall"], "name")));
  return {
    role: results.length > 0 && role === "user" ? "tool" : role,
    text: wordsOf(shown),
    calls: calls.filter((name): name is string => typeof name === "string"),
    results: results.map((part) =>
      resultWords(part["functionResponse"] === undefined ? part["content"] : field(part["functionResponse"], "response")),
    ),
    images: [...parts, ...results.flatMap((part) => list(part["content"]))].filter(isImage).length,
  };
}

function chatMessage(given: Fields): RequestMessage {
  const role = roleOf(given);
  const plain = message(role, given["content"]);
  if (role === "tool") return { ...plain, text: "", results: [plain.text] };
  const calls = list(given["tool_calls"]).map((call) => String(field(call["function"], "name")));
  return { ...plain, calls, images: plain.images + list(given["images"]).length };
}

function responsesItem(item: Fields): RequestMessage {
  const { type, output } = item;
  if (type === "function_call" || type === "custom_tool_call") return { ...message("assistant", ""), calls: [String(item["name"])] };
  if (type === "reasoning") return message("assistant", "");
  if (typeof type !== "string" || !type.endsWith("_output")) return message(roleOf(item), item["content"]);
  return { ...message("tool", ""), results: [resultWords(output)], images: list(output).filter(isImage).length };
}

function roleOf({ role }: Fields): RequestMessage["role"] {
  return role === "assistant" || role === "tool" || role === "system" ? role : role === "developer" ? "system" : "user";
}

function resultWords(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return wordsOf(list(content));
  const told = field(content, "output") ?? field(content, "error") ?? content;
  return typeof told === "string" ? told : JSON.stringify(told);
}

function wordsOf(parts: readonly Fields[]): string {
  return parts
    .map(({ text, refusal }) => text ?? refusal)
    .filter((words) => typeof words === "string" && words !== "")
    .join("\n");
}

function isImage({ type, inlineData, fileData }: Fields): boolean {
  return type === "image" || type === "image_url" || type === "input_image" || inlineData !== undefined || fileData !== undefined;
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map((each) => (typeof each === "object" && each !== null ? (each as Fields) : { text: each })) : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Fields)[name] : undefined;
}
