import type { JsonObject } from "@keelson/protocol";
import type { ValidatedWire } from "../request-validation/validate-request.ts";
import { ANTHROPIC_WIRE } from "./anthropic-turn.ts";
import { CHAT_WIRE } from "./chat-turn.ts";
import { GEMINI_WIRE } from "./gemini-turn.ts";
import { OLLAMA_WIRE } from "./ollama-turn.ts";
import { RESPONSES_WIRE } from "./responses-turn.ts";
import type { ServerWire } from "./server-turn.ts";

export const SERVER_WIRES: { readonly [wire in ValidatedWire]: ServerWire } = {
  "anthropic-messages": ANTHROPIC_WIRE,
  "openai-chat": CHAT_WIRE,
  "openai-responses": RESPONSES_WIRE,
  "gemini": GEMINI_WIRE,
  "ollama-chat": OLLAMA_WIRE,
};

/** How the events of a stream follow each other. */
export type StreamForm = "sse" | "lines" | "array";

export interface ServerRoute {
  readonly wire: ValidatedWire;
  /** How to stream; `undefined`: the whole response at once. */
  readonly stream: (body: JsonObject) => StreamForm | undefined;
  readonly model: (body: JsonObject) => string;
}

const GEMINI_METHOD = /\/(?:models|tunedModels|endpoints)\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** The wire whose requests for a response go to this address; `undefined` when none does. */
export function serverRoute({ pathname, searchParams }: URL): ServerRoute | undefined {
  const model = (body: JsonObject): string => String(body["model"] ?? "");
  const ifAsked = (body: JsonObject): StreamForm | undefined => (body["stream"] === true ? "sse" : undefined);
  if (pathname.endsWith("/messages")) return { wire: "anthropic-messages", stream: ifAsked, model };
  if (pathname.endsWith("/chat/completions")) return { wire: "openai-chat", stream: ifAsked, model };
  if (pathname.endsWith("/responses")) return { wire: "openai-responses", stream: ifAsked, model };
  if (pathname.endsWith("/api/chat"))
    return { wire: "ollama-chat", stream: (body) => (body["stream"] === false ? undefined : "lines"), model };
  const [, named, method] = GEMINI_METHOD.exec(pathname) ?? [];
  if (named === undefined) return undefined;
  const streamed = searchParams.get("alt") === "sse" ? "sse" : "array";
  return { wire: "gemini", stream: () => (method === "generateContent" ? undefined : streamed), model: () => decodeURIComponent(named) };
}

/** The response to a question for models; `undefined` when the address is no such question. */
export function modelListing(pathname: string, ids: readonly string[]): JsonObject | undefined {
  if (pathname.endsWith("/api/tags"))
    return {
      models: ids.map((id) => ({ name: id, model: id, size: 1, details: { family: "test" }, capabilities: ["completion", "tools"] })),
    };
  if (/\/v1beta\/models$/.test(pathname))
    return {
      models: ids.map((id) => ({ name: `models/${id}`, displayName: id, supportedGenerationMethods: ["generateContent"], thinking: true })),
    };
  if (!pathname.endsWith("/models")) return undefined;
  return { object: "list", data: ids.map((id) => ({ id, type: "model", object: "model", display_name: id })), has_more: false };
}
