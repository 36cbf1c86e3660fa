import type { JsonObject } from "@keelson/protocol";
import { openAiError } from "./chat-turn.ts";
import { serverSignature } from "./server-signature.ts";
import {
  argumentPieces,
  argumentsOf,
  callIdOf,
  countsOf,
  type EncodedTurn,
  pieces,
  type ServerEvent,
  type ServerRequest,
  type ServerTurn,
  type ServerWire,
} from "./server-turn.ts";

export const RESPONSES_WIRE: ServerWire = {
  encode: encodeResponsesTurn,
  error: openAiError,
  streamError: ({ message, type, code }) => ({
    name: "error",
    data: JSON.stringify({ type: "error", code: code ?? type ?? "server_error", message, param: null, sequence_number: 0 }),
  }),
  ping: { name: "keepalive", data: `{"type":"keepalive","sequence_number":0}` },
};

/** An item, and how it is streamed between its beginning and its end. */
interface StreamedItem {
  readonly item: JsonObject;
  /** The item as it is announced. */
  readonly start: JsonObject;
  readonly events: readonly { readonly data: JsonObject & { readonly type: string }; readonly role?: ServerEvent["role"] }[];
}

/** A turn in the words of the Responses API. */
function encodeResponsesTurn(turn: ServerTurn, request: ServerRequest): EncodedTurn {
  const items = [...reasoning(turn, request), ...message(turn, request), ...calls(turn, request)];
  const stopped = turn.stopReason ?? "completed";
  const response = {
    id: `resp_${request.index}`,
    object: "response",
    created_at: 1_700_000_000,
    model: request.model,
    store: request.body["store"] !== false,
    error: null,
    incomplete_details: null,
  };
  const whole = {
    ...response,
    status: stopped === "completed" ? "completed" : "incomplete",
    incomplete_details: stopped === "completed" ? null : { reason: stopped },
    output: items.map(({ item }) => item),
    usage: turn.usage === null ? null : usageOf(turn, request),
  };

  const events: ServerEvent[] = [];
  const push = (data: JsonObject & { readonly type: string }, role?: ServerEvent["role"]): void =>
    void events.push({ name: data.type, data: JSON.stringify({ ...data, sequence_number: events.length }), ...(role && { role }) });
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  push({ type: "response.created", response: begun });
  push({ type: "response.in_progress", response: begun });
  for (const [output_index, { item, start, events: between }] of items.entries()) {
    push({ type: "response.output_item.added", output_index, item: start });
    for (const { data, role } of between) push({ ...data, output_index, item_id: item["id"] as string }, role);
    push({ type: "response.output_item.done", output_index, item });
  }
  push({ type: `response.${whole.status}`, response: whole }, "end");
  return { events, whole };
}

function reasoning(turn: ServerTurn, request: ServerRequest): readonly StreamedItem[] {
  if (turn.thinking === undefined) return [];
  const { include } = request.body;
  const encrypted = Array.isArray(include) && include.includes("reasoning.encrypted_content");
  const start = { id: `rs_${request.index}`, type: "reasoning", summary: [] };
  const part = { type: "summary_text", text: turn.thinking };
  const at = { summary_index: 0 };
  return [
    {
      start,
      item: { ...start, summary: [part], ...(encrypted && { encrypted_content: serverSignature(request) }) },
      events: [
        { data: { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } } },
        { data: { type: "response.reasoning_summary_text.delta", ...at, delta: turn.thinking } },
        { data: { type: "response.reasoning_summary_text.done", ...at, text: turn.thinking } },
        { data: { type: "response.reasoning_summary_part.done", ...at, part } },
      ],
    },
  ];
}

function message(turn: ServerTurn, request: ServerRequest): readonly StreamedItem[] {
  const text = pieces(turn);
  if (text.length === 0 && turn.refusal === undefined) return [];
  const head = { id: `msg_${request.index}`, type: "message", role: "assistant" };
  const at = { content_index: 0 };
  const { refusal } = turn;
  const whole = refusal ?? text.join("");
  const kind = refusal === undefined ? "output_text" : "refusal";
  const part = (words: string): JsonObject =>
    refusal === undefined ? { type: kind, text: words, annotations: [] } : { type: kind, refusal: words };
  return [
    {
      start: { ...head, status: "in_progress", content: [] },
      item: { ...head, status: "completed", content: [part(whole)] },
      events: [
        { data: { type: "response.content_part.added", ...at, part: part("") } },
        ...(refusal === undefined ? text : [refusal]).map((delta) => ({
          data: { type: `response.${kind}.delta`, ...at, delta },
          role: "text" as const,
        })),
        { data: { type: `response.${kind}.done`, ...at, [refusal === undefined ? "text" : "refusal"]: whole } },
        { data: { type: "response.content_part.done", ...at, part: part(whole) } },
      ],
    },
  ];
}

function calls(turn: ServerTurn, request: ServerRequest): readonly StreamedItem[] {
  return (turn.toolCalls ?? []).map((call, at) => {
    const head = { id: `fc_${request.index}_${at}`, type: "function_call", call_id: callIdOf(call, request, at), name: call.name };
    return {
      start: { ...head, status: "in_progress", arguments: "" },
      item: { ...head, status: "completed", arguments: argumentsOf(call) },
      events: [
        ...argumentPieces(call).map((delta) => ({ data: { type: "response.function_call_arguments.delta", delta } })),
        { data: { type: "response.function_call_arguments.done", arguments: argumentsOf(call) } },
      ],
    };
  });
}

function usageOf(turn: ServerTurn, request: ServerRequest): JsonObject {
  const counts = countsOf(turn, request);
  return {
    input_tokens: counts.inputTokens,
    input_tokens_details: { cached_tokens: counts.cacheReadTokens, cache_write_tokens: counts.cacheCreationTokens },
    output_tokens: counts.outputTokens,
    output_tokens_details: { reasoning_tokens: counts.reasoningTokens },
    total_tokens: counts.inputTokens + counts.outputTokens,
  };
}
