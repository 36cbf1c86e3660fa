import type { JsonObject } from "@keelson/protocol";
import {
  argumentObject,
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

export const OLLAMA_WIRE: ServerWire = {
  encode: encodeOllamaTurn,
  error: ({ message }) => ({ error: message }),
  streamError: ({ message }) => ({ name: "", data: JSON.stringify({ error: message }) }),
  ping: { name: "", data: `{"model":"","message":{"role":"assistant","content":""},"done":false}` },
};

/** A turn in the words of Ollama's `/api/chat`. */
function encodeOllamaTurn(turn: ServerTurn, request: ServerRequest): EncodedTurn {
  const head = { model: request.model, created_at: "2026-01-01T00:00:00.000000Z" };
  const text = turn.refusal === undefined ? pieces(turn) : [turn.refusal];
  const asked = turn.toolCalls ?? [];
  const broken = asked.find((call) => argumentObject(call) === undefined);
  const calls = asked.map((call, index) => ({
    id: callIdOf(call, request, index),
    function: { index, name: call.name, arguments: argumentObject(call) ?? {} },
  }));
  const counts = countsOf(turn, request);
  const end = {
    done: true,
    done_reason: turn.stopReason ?? "stop",
    total_duration: 3_000_000,
    load_duration: 1_000_000,
    ...(turn.usage !== null && { prompt_eval_count: counts.inputTokens, eval_count: counts.outputTokens }),
    prompt_eval_duration: 1_000_000,
    eval_duration: 1_000_000,
  };
  // It reads the calls out of the model's text, and gives up where it cannot.
  if (broken !== undefined) {
    const error = { error: `error parsing tool call: raw='${argumentsOf(broken)}', err=invalid character` };
    return { events: [{ name: "", data: JSON.stringify(error) }], whole: error };
  }

  const events: ServerEvent[] = [];
  const line = (message: JsonObject, role?: ServerEvent["role"]): void =>
    void events.push({
      name: "",
      data: JSON.stringify({
        ...head,
        message: { role: "assistant", content: "", ...message },
        ...(role === "end" ? end : { done: false }),
      }),
      ...(role && { role }),
    });
  if (turn.thinking !== undefined) line({ thinking: turn.thinking });
  for (const content of text) line({ content }, "text");
  if (calls.length > 0) line({ tool_calls: calls });
  line({}, "end");
  const message: JsonObject = {
    role: "assistant",
    content: text.join(""),
    ...(turn.thinking !== undefined && { thinking: turn.thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { events, whole: { ...head, message, ...end } };
}
