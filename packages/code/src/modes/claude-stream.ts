import type { AgentEvent, Content, JsonObject, JsonValue, Usage } from "@keelson/protocol";
import type { RunOutcome } from "keelson";
import { outputText } from "../render/output-text.ts";

/** A run whose events become lines as Claude Code writes them. */
export interface ClaudeStreamOptions {
  readonly session: string;
  readonly model: string;
  readonly cwd: string;
  readonly permissionMode: string;
  /** Also pieces of messages as they arrive. */
  readonly partialMessages: boolean;
}

/** The lines of a run, of which programs for Claude Code's `stream-json` read messages, results of tools and the end. */
export interface ClaudeStream {
  begin(): JsonObject;
  /** The lines for an event; most events have none. */
  lines(event: AgentEvent): readonly JsonObject[];
  end(outcome: RunOutcome<unknown>, durationMs: number): JsonObject;
}

export function createClaudeStream({ session, model, cwd, permissionMode, partialMessages }: ClaudeStreamOptions): ClaudeStream {
  const line = (fields: JsonObject, parent: string | undefined): JsonObject => ({
    ...fields,
    parent_tool_use_id: parent ?? null,
    session_id: session,
  });
  return {
    begin: () => ({ type: "system", subtype: "init", session_id: session, model, cwd, permissionMode, tools: [], mcp_servers: [] }),
    lines(event) {
      const parent = event.path?.at(-1);
      switch (event.type) {
        case "message": {
          const { role, content } = event.message;
          const blocks = content.flatMap(blockOf);
          // The reader sent the messages of the user; results of calls are events of their own.
          if (blocks.length === 0 || role !== "assistant") return [];
          return [line({ type: "assistant", message: { role, type: "message", model, content: blocks } }, parent)];
        }
        case "tool-result": {
          const { callId, output, isError } = event;
          const block = { type: "tool_result", tool_use_id: callId, content: outputText(output), is_error: isError };
          return [line({ type: "user", message: { role: "user", content: [block] } }, parent)];
        }
        case "text-delta":
          return partialMessages ? [line({ type: "stream_event", event: deltaOf({ type: "text_delta", text: event.text }) }, parent)] : [];
        case "thinking-delta":
          return partialMessages
            ? [line({ type: "stream_event", event: deltaOf({ type: "thinking_delta", thinking: event.text }) }, parent)]
            : [];
        default:
          return [];
      }
    },
    end: ({ reason, text, output, turns, usage, cost, error }, durationMs) => ({
      type: "result",
      subtype: subtypeOf(reason),
      is_error: reason !== "complete",
      duration_ms: durationMs,
      num_turns: turns,
      result: text,
      ...(output !== undefined && { structured_output: output as JsonValue }),
      session_id: session,
      total_cost_usd: cost === null || cost === undefined ? null : Number(cost),
      usage: usageOf(usage),
      permission_denials: [],
      ...(reason !== "complete" && { errors: [error?.message ?? reason] }),
    }),
  };
}

function deltaOf(delta: JsonObject): JsonObject {
  return { type: "content_block_delta", index: 0, delta };
}

function blockOf(part: Content): readonly JsonObject[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "tool-call":
      return [{ type: "tool_use", id: part.id, name: part.name, input: part.input ?? {} }];
    default:
      return [];
  }
}

function subtypeOf(reason: string): string {
  if (reason === "complete") return "success";
  if (reason === "max-turns") return "error_max_turns";
  return reason === "budget-exhausted" ? "error_max_budget_usd" : "error_during_execution";
}

function usageOf(usage: Usage | undefined): JsonObject {
  const tokens = (value: number | null | undefined): number => value ?? 0;
  const cached = tokens(usage?.cacheReadTokens) + tokens(usage?.cacheCreationTokens);
  return {
    // Cached tokens are counted apart there.
    input_tokens: Math.max(0, tokens(usage?.inputTokens) - cached),
    output_tokens: tokens(usage?.outputTokens),
    cache_read_input_tokens: tokens(usage?.cacheReadTokens),
    cache_creation_input_tokens: tokens(usage?.cacheCreationTokens),
  };
}
