import type { AgentEvent } from "./event.ts";
import type { JsonValue } from "./json.ts";

/** What a hook of each point is told. Hooks observe and may abort; they never rewrite messages. */
export interface HookPayloads {
  readonly "pre-tool-use": { readonly toolName: string; readonly arguments: JsonValue };
  readonly "post-tool-use": { readonly toolName: string; readonly arguments: JsonValue; readonly output: JsonValue };
  readonly "post-tool-use-failure": { readonly toolName: string; readonly arguments: JsonValue; readonly error: string };
  readonly "notification": { readonly message: string; readonly level: "info" | "warn" | "error" | (string & {}) };
  readonly "subagent-start": { readonly agentName: string; readonly initialMessage?: string };
  readonly "subagent-stop": { readonly agentName: string; readonly reason: string };
  readonly "pre-compact": { readonly messageCount: number; readonly tokenCount: number | null };
  readonly "post-compact": { readonly messageCount: number; readonly tokenCount: number | null };
  readonly "session-start": { readonly sessionId: string; readonly resumed: boolean };
  readonly "session-end": { readonly sessionId: string; readonly reason: string };
  /** What the run shows to watchers, what is streamed and the events of its children (with their `path`) included. */
  readonly "event": { readonly event: AgentEvent };
}

export type HookPoint = keyof HookPayloads;

export type HookResult =
  | { readonly type: "continue" }
  /** Ends the operation the hook stands before, or, with `ends: "run"`, the whole run. After a tool has run, that is the run in any case. */
  | { readonly type: "abort"; readonly reason: string; readonly ends?: "run" };

/** What a hook of each point may return. */
export interface HookResults {
  /** `ask`: a person must allow this call, whatever the permissions say. */
  readonly "pre-tool-use": HookResult | { readonly type: "ask"; readonly reason: string };
  /** `tell`: the result stands, and the model is told this after it. */
  readonly "post-tool-use": HookResult | { readonly type: "tell"; readonly reason: string };
  readonly "post-tool-use-failure": HookResult | { readonly type: "tell"; readonly reason: string };
  readonly "notification": HookResult;
  readonly "subagent-start": HookResult;
  readonly "subagent-stop": HookResult;
  readonly "pre-compact": HookResult;
  readonly "post-compact": HookResult;
  readonly "session-start": HookResult;
  readonly "session-end": HookResult;
  readonly "event": HookResult;
}

export interface HookMatcher {
  /** `*` stands for any characters. Absent: every tool, and every event that is about none. */
  readonly toolNamePattern?: string;
  /** Default 30 s. A hook that takes longer is skipped, unless it is a guard: that counts as `abort`. */
  readonly timeoutMs?: number;
}
