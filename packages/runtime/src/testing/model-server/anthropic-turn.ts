import type { JsonObject } from "@keelson/protocol";
import { serverSignature } from "./server-signature.ts";
import {
  argumentObject,
  argumentPieces,
  callIdOf,
  countsOf,
  type EncodedTurn,
  pieces,
  type ServerError,
  type ServerEvent,
  type ServerRequest,
  type ServerTurn,
  type ServerWire,
} from "./server-turn.ts";

export const ANTHROPIC_WIRE: ServerWire = {
  encode: encodeAnthropicTurn,
  error: anthropicError,
  streamError: (error, requestId) => ({ name: "error", data: JSON.stringify(anthropicError(error, 500, requestId)) }),
  ping: { name: "ping", data: `{"type":"ping"}` },
};

/** A turn in the words of the Messages API. */
function encodeAnthropicTurn(turn: ServerTurn, request: ServerRequest): EncodedTurn {
  const counts = countsOf(turn, request);
  const told = turn.usage !== null;
  const usage = {
    input_tokens: counts.inputTokens - counts.cacheReadTokens - counts.cacheCreationTokens,
    output_tokens: counts.outputTokens,
    cache_read_input_tokens: counts.cacheReadTokens,
    cache_creation_input_tokens: counts.cacheCreationTokens,
  };
  const calls = turn.toolCalls ?? [];
  const stopReason = turn.stopReason ?? (turn.refusal !== undefined ? "refusal" : calls.length > 0 ? "tool_use" : "end_turn");
  const message = { id: `msg_${request.index}`, type: "message", role: "assistant", model: request.model };
  const signature = serverSignature(request);

  const events: ServerEvent[] = [];
  const push = (data: JsonObject & { readonly type: string }, role?: ServerEvent["role"]): void =>
    void events.push({ name: data.type, data: JSON.stringify(data), ...(role && { role }) });
  let index = 0;
  const block = (start: JsonObject, deltas: readonly JsonObject[], role?: ServerEvent["role"]): void => {
    push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) push({ type: "content_block_delta", index, delta }, role);
    push({ type: "content_block_stop", index });
    index += 1;
  };

  push({
    type: "message_start",
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, ...(told && { usage: { ...usage, output_tokens: 1 } }) },
  });
  if (turn.thinking !== undefined) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: turn.thinking },
      { type: "signature_delta", signature },
    ]);
  }
  const text = turn.refusal === undefined ? pieces(turn) : [turn.refusal];
  if (text.length > 0)
    block(
      { type: "text", text: "" },
      text.map((piece) => ({ type: "text_delta", text: piece })),
      "text",
    );
  for (const [at, call] of calls.entries()) {
    block(
      { type: "tool_use", id: callIdOf(call, request, at), name: call.name, input: {} },
      ["", ...argumentPieces(call)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    );
  }
  push({ type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, ...(told && { usage }) }, "finish");
  push({ type: "message_stop" }, "end");

  const content = [
    ...(turn.thinking === undefined ? [] : [{ type: "thinking", thinking: turn.thinking, signature }]),
    ...(text.length === 0 ? [] : [{ type: "text", text: text.join("") }]),
    ...calls.map((call, at) => ({ type: "tool_use", id: callIdOf(call, request, at), name: call.name, input: argumentObject(call) ?? {} })),
  ];
  return { events, whole: { ...message, content, stop_reason: stopReason, stop_sequence: null, ...(told && { usage }) } };
}

function anthropicError(error: ServerError, status: number, requestId: string): JsonObject {
  const type =
    error.type ??
    {
      400: "invalid_request_error",
      401: "authentication_error",
      403: "permission_error",
      404: "not_found_error",
      429: "rate_limit_error",
      529: "overloaded_error",
    }[status] ??
    "api_error";
  return { type: "error", error: { type, message: error.message }, request_id: requestId };
}
