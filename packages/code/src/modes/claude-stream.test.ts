import type { AgentEvent } from "@keelson/protocol";
import type { RunOutcome } from "keelson";
import { expect, it } from "vitest";
import { createClaudeStream } from "./claude-stream.ts";

const stream = (partialMessages = false) =>
  createClaudeStream({ session: "s1", model: "anthropic/m", cwd: "/work", permissionMode: "default", partialMessages });
const event = (fields: object): AgentEvent => ({ runId: "r1", seq: 1, at: 0, ...fields }) as unknown as AgentEvent;
const message = (role: string, content: readonly object[]) => event({ type: "message", message: { role, content } });

it("writes messages of the model and results of its tools as Claude Code does", () => {
  expect(stream().begin()).toMatchObject({ type: "system", subtype: "init", session_id: "s1", cwd: "/work", model: "anthropic/m" });
  expect(
    stream().lines(
      message("assistant", [
        { type: "text", text: "I look." },
        { type: "tool-call", id: "c1", name: "bash", input: { command: "ls" } },
      ]),
    ),
  ).toEqual([
    {
      type: "assistant",
      message: {
        role: "assistant",
        type: "message",
        model: "anthropic/m",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } },
        ],
      },
      parent_tool_use_id: null,
      session_id: "s1",
    },
  ]);
  expect(stream().lines(event({ type: "tool-result", callId: "c1", name: "bash", output: "a.txt", isError: true }))).toMatchObject([
    { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "a.txt", is_error: true }] } },
  ]);
});

it("repeats no task, and writes pieces of messages only if they are asked for", () => {
  expect(stream().lines(message("user", [{ type: "text", text: "the task" }]))).toEqual([]);
  expect(stream().lines(event({ type: "text-delta", text: "I" }))).toEqual([]);
  expect(stream(true).lines(event({ type: "text-delta", text: "I" }))).toMatchObject([
    { type: "stream_event", event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I" } } },
  ]);
  expect(stream(true).lines(event({ type: "turn-start" }))).toEqual([]);
});

it("ends with a result, with tokens as they are counted there", () => {
  const outcome = {
    reason: "complete",
    text: "Done.",
    turns: 2,
    cost: "0.25",
    usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheCreationTokens: 10, reasoningTokens: null },
  } as unknown as RunOutcome<unknown>;
  expect(stream().end(outcome, 1_500)).toMatchObject({
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 1_500,
    num_turns: 2,
    result: "Done.",
    total_cost_usd: 0.25,
    usage: { input_tokens: 30, output_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 10 },
  });
  expect(stream().end({ ...outcome, reason: "max-turns" } as never, 1)).toMatchObject({ subtype: "error_max_turns", is_error: true });
  expect(stream().end({ ...outcome, reason: "awaiting-approval", output: { a: 1 } } as never, 1)).toMatchObject({
    subtype: "error_during_execution",
    structured_output: { a: 1 },
  });
});
