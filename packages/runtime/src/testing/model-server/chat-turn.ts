import type { JsonObject } from "@keelson/protocol";
import {
  argumentPieces,
  argumentsOf,
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

export const CHAT_WIRE: ServerWire = {
  encode: encodeChatTurn,
  error: openAiError,
  streamError: (error) => ({ name: "error", data: JSON.stringify(openAiError(error, 500)) }),
  ping: { name: "", data: `{"choices":[]}` },
};

/** A turn in the words of Chat Completions. */
function encodeChatTurn(turn: ServerTurn, request: ServerRequest): EncodedTurn {
  const counts = countsOf(turn, request);
  const told = turn.usage !== null;
  const usage = {
    prompt_tokens: counts.inputTokens,
    completion_tokens: counts.outputTokens,
    total_tokens: counts.inputTokens + counts.outputTokens,
    prompt_tokens_details: { cached_tokens: counts.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  const calls = turn.toolCalls ?? [];
  const stopReason = turn.stopReason ?? (calls.length > 0 ? "tool_calls" : "stop");
  const response = {
    id: `chatcmpl-${request.index}`,
    created: 1_700_000_000,
    model: request.model,
    system_fingerprint: "fp_test",
  };
  const withUsage = (request.body["stream_options"] as { include_usage?: unknown } | undefined)?.include_usage === true;

  const events: ServerEvent[] = [];
  const push = (choices: readonly JsonObject[], more: JsonObject = withUsage ? { usage: null } : {}, role?: ServerEvent["role"]): void =>
    void events.push({
      name: "",
      data: JSON.stringify({ ...response, object: "chat.completion.chunk", choices, ...more }),
      ...(role && { role }),
    });
  const delta = (fields: JsonObject, role?: ServerEvent["role"]): void =>
    push([{ index: 0, delta: fields, logprobs: null, finish_reason: null }], undefined, role);

  delta({ role: "assistant", content: calls.length > 0 && turn.text === undefined ? null : "", refusal: null });
  if (turn.thinking !== undefined) delta({ reasoning_content: turn.thinking });
  for (const piece of pieces(turn)) delta({ content: piece }, "text");
  if (turn.refusal !== undefined) delta({ refusal: turn.refusal });
  for (const [index, call] of calls.entries()) {
    delta({ tool_calls: [{ index, id: callIdOf(call, request, index), type: "function", function: { name: call.name, arguments: "" } }] });
    for (const piece of argumentPieces(call)) delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  push([{ index: 0, delta: {}, logprobs: null, finish_reason: stopReason }], undefined, "finish");
  if (withUsage && told) push([], { usage });
  events.push({ name: "", data: "[DONE]", role: "end" });

  const text = pieces(turn).join("");
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: turn.refusal ?? null,
    ...(turn.thinking !== undefined && { reasoning_content: turn.thinking }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call, at) => ({
        id: callIdOf(call, request, at),
        type: "function",
        function: { name: call.name, arguments: argumentsOf(call) },
      })),
    }),
  };
  return {
    events,
    whole: {
      ...response,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: stopReason }],
      ...(told && { usage }),
    },
  };
}

/** OpenAI's, on both of its wires. */
export function openAiError(error: ServerError, status: number): JsonObject {
  const type = error.type ?? (status === 429 ? "rate_limit_exceeded" : status >= 500 ? "server_error" : "invalid_request_error");
  return { error: { message: error.message, type, param: null, code: error.code ?? null } };
}
