import type { JsonObject, JsonValue, Message, ToolSchema } from "@keelson/protocol";
import { anthropicMessages } from "./decode-request/anthropic-messages.ts";
import { CallNames } from "./decode-request/call-names.ts";
import { chatMessages } from "./decode-request/chat-messages.ts";
import type { Decoder } from "./decode-request/decoder.ts";
import { camelCased, type Fields, listOf } from "./decode-request/fields.ts";
import { geminiMessages } from "./decode-request/gemini-messages.ts";
import { ollamaMessages } from "./decode-request/ollama-messages.ts";
import { requestTools } from "./decode-request/request-tools.ts";
import { responsesMessages } from "./decode-request/responses-messages.ts";
import type { Recording } from "./recordings.ts";

/** A recorded request in our words. */
export interface DecodedRequest {
  readonly model: string;
  readonly system: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly output: { readonly name: string; readonly schema: JsonObject } | undefined;
  /** What our requests would have of it only if they were told to. */
  readonly extra: JsonObject;
}

/** The model that was asked: Azure and Gemini have it in the path. */
export function modelOf({ request, expect }: Pick<Recording, "request" | "expect">): string {
  const named = request.body?.["model"];
  if (typeof named === "string") return named;
  return /(?:models|deployments)\/([^:/]+)/.exec(request.path)?.[1] ?? expect.model ?? "a-model";
}

const DECODERS: { readonly [wire: string]: Decoder | undefined } = {
  "anthropic-messages": anthropicMessages,
  "openai-chat": chatMessages,
  "openai-responses": responsesMessages,
  "gemini": geminiMessages,
  "ollama-chat": ollamaMessages,
};

/** What a client of ours would have held when it sent this request. `undefined`: the body is of a kind we never send. */
export function decodeRequest(recording: Recording): DecodedRequest | undefined {
  const { body } = recording.request;
  const decode = DECODERS[recording.wire];
  if (body === null || decode === undefined) return undefined;
  const calls = new CallNames();
  const model = modelOf(recording);
  const { system, messages } = decode(body, { wire: recording.wire, model, calls });
  const tools = requestTools(body);
  return { model, system: system === "" ? undefined : system, messages, tools, output: outputIn(body), extra: extraIn(body, tools) };
}

const OUTPUT_MEMBERS = ["response_format", "text", "format", "output_config", "output_format", "functions"];

/** The schema of the response, wherever the wire has it. */
function outputIn(body: Fields): DecodedRequest["output"] {
  const generation = camelCased((camelCased(body)["generationConfig"] ?? {}) as Fields);
  const schema =
    OUTPUT_MEMBERS.map((name) => body[name]).find((value) => typeof value === "object" && value !== null) ?? generation["responseSchema"];
  return schema === undefined || schema === null ? undefined : { name: "answer", schema: schema as JsonObject };
}

const OWN_MEMBERS = new Set([
  "messages",
  "contents",
  "input",
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "model",
  "stream",
  ...OUTPUT_MEMBERS,
]);

function extraIn(body: Fields, tools: readonly ToolSchema[]): JsonObject {
  const names = new Set(tools.map(({ name }) => name));
  const others = listOf(body["tools"]).filter((tool) => {
    const name = tool["name"] ?? (tool["function"] as Fields | undefined)?.["name"];
    return !(typeof name === "string" && names.has(name)) && camelCased(tool)["functionDeclarations"] === undefined;
  });
  const members = Object.entries(body).filter(([name, value]) => !OWN_MEMBERS.has(name) && name !== "tools" && value !== null);
  return { ...(Object.fromEntries(members) as JsonObject), ...(others.length > 0 && { tools: others as unknown as JsonValue }) };
}
