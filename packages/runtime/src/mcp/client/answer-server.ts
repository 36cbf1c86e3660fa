import {
  type Content,
  type JsonObject,
  type JsonValue,
  McpError,
  type Message,
  type OnElicitation,
  type ToolAnswer,
} from "@keelson/protocol";
import type { CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { randomId } from "../../json/random-id.ts";
import { createJsonSchemaValidator } from "../../schema/index.ts";
import { pageUrl } from "../../tools/page-url.ts";
import type { McpCallOptions } from "./mcp-transport.ts";

/** Who answers a server. */
export interface Answerer {
  readonly server: string;
  /** Where the program has its own way to ask people. */
  readonly onElicitation?: OnElicitation | undefined;
  /** The call in which the server asks, where that is known. */
  readonly call?: Pick<McpCallOptions, "ask" | "infer" | "signal"> | undefined;
  /** The server gave up its request until it has the answer: nothing happened that would happen twice. */
  readonly mayRepeat?: boolean;
}

/**
 * Answers a question of a server to a person; cancels it if no person can be asked.
 * @throws McpError for the address of a page that is not shown to people
 */
export async function answerElicitation(params: ElicitRequestParams, answerer: Answerer): Promise<ElicitResult> {
  const { server, onElicitation, call, mayRepeat } = answerer;
  const url = params.mode === "url" ? shownUrl(params.url, server) : undefined;
  const schema = params.mode === "url" ? undefined : (params.requestedSchema as unknown as JsonObject);
  let answer: ToolAnswer = { type: "cancelled" };
  if (onElicitation !== undefined) {
    const requestId = randomId();
    const signal = call?.signal ?? new AbortController().signal;
    const request = { requestId, message: params.message, responseSchema: schema ?? { type: "object" }, required: true, server };
    answer = await onElicitation({ ...request, ...(url !== undefined && { url }) }, { signal });
  } else if (call?.ask !== undefined) {
    answer = await call.ask({
      message: params.message,
      from: server,
      ...(schema !== undefined && { schema }),
      ...(url !== undefined && { url }),
      ...(mayRepeat !== undefined && { mayRepeat }),
    });
  }
  if (answer.type === "declined") return { action: "decline" };
  if (answer.type === "cancelled") return { action: "cancel" };
  if (schema === undefined) return { action: "accept" };
  const content = withDefaults(answer.value, schema);
  // What does not fit would be refused by the server, in worse words.
  const issues = await createJsonSchemaValidator(schema)(content);
  return issues.length > 0 ? { action: "cancel" } : { action: "accept", content: content as NonNullable<ElicitResult["content"]> };
}

function shownUrl(given: unknown, server: string): string {
  const page = pageUrl(given);
  if ("url" in page) return page.url;
  const message = `The server "${server}" wanted a person to open a page, which was refused: ${page.problem}.`;
  throw new McpError({ kind: "protocol", server, code: INVALID_PARAMS, message });
}

const INVALID_PARAMS = -32602;

/** What was not said is what the form begins with. */
function withDefaults(value: JsonValue, { properties = {} }: JsonObject): JsonValue {
  if (!isObject(value) || !isObject(properties)) return value;
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property["default"] !== undefined ? [[name, property["default"]] as const] : [],
  );
  return { ...Object.fromEntries(defaults), ...value };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const STOP_REASONS: { readonly [reason: string]: string } = {
  "end-turn": "endTurn",
  "max-tokens": "maxTokens",
  "stop-sequence": "stopSequence",
};

/** Has the model of the run answer what a server asks. @throws McpError where it is refused */
export async function answerSampling(params: CreateMessageRequestParams, { server, call }: Answerer): Promise<CreateMessageResult> {
  const refused = (reason: string): McpError =>
    new McpError({ kind: "protocol", server, code: -1, message: `A question of the server "${server}" to a model was refused: ${reason}` });
  if (call?.infer === undefined) throw refused("models are asked within calls of a run only.");
  if (params.tools !== undefined) throw refused("it offers tools of its own, which is not supported.");
  const answer = await call.infer({
    from: server,
    messages: params.messages.map(toMessage),
    maxTokens: params.maxTokens,
    ...(params.systemPrompt !== undefined && { system: params.systemPrompt }),
    ...(params.temperature !== undefined && { temperature: params.temperature }),
    ...(params.stopSequences !== undefined && { stopSequences: params.stopSequences }),
  });
  if (answer.type === "refused") throw refused(answer.reason);
  const text = answer.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return {
    role: "assistant",
    model: answer.model,
    content: { type: "text", text },
    stopReason: STOP_REASONS[answer.stopReason] ?? "endTurn",
  };
}

function toMessage({ role, content }: CreateMessageRequestParams["messages"][number]): Message {
  return { role, content: [content].flat().map(toPart) };
}

function toPart(block: { readonly type: string }): Content {
  const { type, text, data, mimeType } = block as { readonly [name: string]: JsonValue };
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (typeof data === "string" && typeof mimeType === "string")
    return type === "image" ? { type: "image", mediaType: mimeType, data } : { type: "file", mediaType: mimeType, data };
  return { type: "text", text: JSON.stringify(block) };
}
