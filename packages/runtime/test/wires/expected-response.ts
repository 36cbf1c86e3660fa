import { type InferResponse, ModelError, type Usage } from "@keelson/protocol";
import { textOf } from "keelson/providers";
import { expect } from "vitest";
import type { ExpectedCall, Recording } from "./recordings.ts";

/** Where the rules of the recordings say that `expect` is doubtful; `docs/wire-exceptions.md` repeats them with their reasons. */
export const DOUBTFUL: { readonly [id: string]: { readonly thinking?: string; readonly kind?: string } } = {
  // The oracle reads no `reasoning_details` where no `reasoning` stands beside them.
  "snowflake.pydantic-ai.test-snowflake-thinking-streaming.0": { thinking: "15 * 27 = 405" },
};

/** Holds a response, or the failure that came instead, to what the recording expects by the rules. */
export function checkResponse(recording: Recording, actual: unknown): void {
  const { expect: expected } = recording;
  if (expected.error !== undefined && expected.stop_reason !== "length") {
    checkFailure(recording, actual);
    return;
  }
  if (actual instanceof Error) throw actual;
  const response = actual as InferResponse;
  expect(textOf(response)).toBe(expected.text);
  expect(response.rawStopReason).toBe(expected.stop_reason);
  expect(thinkingOf(response)).toBe(
    DOUBTFUL[recording.id]?.thinking ?? (expected.thinking ?? "") + (expected.reasoning_summary ?? []).join(""),
  );
  expect(response.content.map((part) => (part.type === "refusal" ? part.text : "")).join("")).toBe(expected.refusal ?? "");
  if (expected.model !== undefined && expected.model !== "") expect(response.model).toBe(expected.model);
  if (expected.message_id !== undefined && expected.message_id !== "") expect(response.providerData?.["id"]).toBe(expected.message_id);
  expect(response.stopReason).toBe(stopReasonByTheRules(recording, response));
  checkCalls(recording, response);
  expect(response.usage).toEqual(recording.wire === "openai-responses" ? plainUsage(recording) : chatUsage(recording));
}

function checkFailure({ expect: { error }, response, id }: Recording, actual: unknown): void {
  if (error === undefined) return;
  if (!ModelError.is(actual)) throw new Error(`expected a failure, got ${JSON.stringify(actual).slice(0, 300)}`, { cause: actual });
  expect(actual.failure.message).toContain(error.message);
  if (error.in_stream !== true && response.status !== 200) expect(actual.failure.status).toBe(response.status);
  const code = error.code ?? error.type ?? undefined;
  if (code !== undefined) expect(String(actual.failure.code)).toBe(String(code));
  expect([id, actual.failure.kind]).toEqual([id, expectedKind(response.status, response.body, error.code)]);
}

/** Rules 17 and 18, done anew. */
function expectedKind(status: number, body: string, code: string | number | null | undefined): string {
  if (status === 200) {
    if (code === 502 || code === "502" || code === "server_error") return "server-error";
    if (code === "rate_limit_exceeded") return "rate-limit";
    if (code === "tool_use_failed") return "invalid-response";
    throw new Error(`no rule for the code ${code} in a response of status 200`);
  }
  if (status === 401) return "authentication";
  if (status === 402) return "billing";
  if (status === 403) return /guideline/i.test(body) ? "content-blocked" : "authentication";
  if (status === 429) return "rate-limit";
  if (status >= 500 || status === 408) return "server-error";
  if (status === 400 && /Incorrect API key/.test(body)) return "authentication";
  if (status === 400 && /context_length_exceeded|exceed_context_size_error|too_many_prompt_tokens|max context length/.test(body))
    return "context-overflow";
  return "invalid-request";
}

function thinkingOf(response: InferResponse): string {
  return response.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
}

function stopReasonByTheRules({ expect: expected, wire }: Recording, { toolCalls, stopReason }: InferResponse): string {
  if (expected.stop_reason === "length" || expected.incomplete_reason === "max_output_tokens") return "max-tokens";
  if (expected.stop_reason === "content_filter" || expected.incomplete_reason === "content_filter") return "content-filter";
  if (toolCalls.length > 0) return "tool-use";
  // Some servers never give a reason (Snowflake, OpenRouter without streams).
  if (["stop", "eos", "completed", "end_turn", ""].includes(expected.stop_reason ?? "")) return "end-turn";
  // Rule 19: what is unknown is no error.
  expect([wire, stopReason]).toEqual([wire, "other"]);
  return "other";
}

function checkCalls({ expect: expected }: Recording, response: InferResponse): void {
  const calls: ExpectedCall[] = [...expected.tool_calls];
  if (expected.function_call !== undefined && expected.function_call.name !== "") calls.push({ id: null, ...expected.function_call });
  expect(response.toolCalls.map((call) => call.name)).toEqual(calls.map((call) => call.name));
  for (const [at, call] of calls.entries()) {
    const made = response.toolCalls[at];
    if (call.id !== null && call.id !== "") expect(made?.id).toBe(call.id);
    else expect(made?.id).toMatch(/^[a-zA-Z0-9_-]{8,40}$/);
    if (call.arguments_invalid === true) {
      expect(made?.input).toBeUndefined();
      expect(made?.inputText).toBe(call.arguments_raw);
    } else expect(made?.input).toEqual(call.arguments ?? {});
    const part = response.content.filter((content) => content.type === "tool-call")[at];
    expect(part?.custom === true).toBe(call.custom === true);
    if (call.item_id !== undefined) expect(part?.providerData?.["itemId"]).toBe(call.item_id);
  }
  expect(new Set(response.toolCalls.map((call) => call.id)).size).toBe(calls.length);
}

function plainUsage({ expect: { usage } }: Recording): Usage {
  const { input_tokens = null, output_tokens = null, cache_read = null, cache_write = null, reasoning = null } = usage ?? {};
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheReadTokens: cache_read,
    cacheCreationTokens: cache_write,
    reasoningTokens: reasoning,
  };
}

/** Rule 14: what the total has more than the sum is output too. */
/** Databricks has Anthropic's names for the cache, which the oracle does not read. */
function withCache(usage: Usage, body: string): Usage {
  const last = (name: string): number | null => {
    const found = [...body.matchAll(new RegExp(`"${name}":\\s*(\\d+)`, "g"))].at(-1)?.[1];
    return found === undefined ? null : Number(found);
  };
  return {
    ...usage,
    cacheReadTokens: usage.cacheReadTokens ?? last("cache_read_input_tokens"),
    cacheCreationTokens: usage.cacheCreationTokens ?? last("cache_creation_input_tokens"),
  };
}

function chatUsage(recording: Recording): Usage {
  const plain = withCache(plainUsage(recording), recording.response.body);
  const total = Number([...recording.response.body.matchAll(/"total_tokens":\s*(\d+)/g)].at(-1)?.[1] ?? 0);
  const { inputTokens, outputTokens } = plain;
  return inputTokens !== null && total > inputTokens + (outputTokens ?? 0) ? { ...plain, outputTokens: total - inputTokens } : plain;
}
