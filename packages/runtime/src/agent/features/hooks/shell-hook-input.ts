import type { HookPayloads, HookPoint, JsonObject } from "@keelson/protocol";
import type { HookContext } from "../../definition/hooks/hook.ts";

/** The points at which a command may stand: not at each piece of a response. */
export type ShellPoint = Exclude<HookPoint, "event">;

/** The points under the names that shell hooks know them by. */
export const SHELL_EVENTS: { readonly [P in ShellPoint]: string } = {
  "pre-tool-use": "PreToolUse",
  "post-tool-use": "PostToolUse",
  "post-tool-use-failure": "PostToolUseFailure",
  "notification": "Notification",
  "subagent-start": "SubagentStart",
  "subagent-stop": "SubagentStop",
  "pre-compact": "PreCompact",
  "post-compact": "PostCompact",
  "session-start": "SessionStart",
  "session-end": "SessionEnd",
};

type Fields = { readonly [P in ShellPoint]: (payload: HookPayloads[P], toolName: (tool: string) => string) => JsonObject };

const FIELDS: Fields = {
  "pre-tool-use": (payload, toolName) => ({ tool_name: toolName(payload.toolName), tool_input: payload.arguments }),
  "post-tool-use": (payload, toolName) => ({
    tool_name: toolName(payload.toolName),
    tool_input: payload.arguments,
    tool_response: payload.output,
  }),
  "post-tool-use-failure": (payload, toolName) => ({
    tool_name: toolName(payload.toolName),
    tool_input: payload.arguments,
    error: payload.error,
  }),
  "notification": ({ message, level }) => ({ message, level }),
  "subagent-start": ({ agentName, initialMessage }) => ({
    agent_type: agentName,
    ...(initialMessage !== undefined && { prompt: initialMessage }),
  }),
  "subagent-stop": ({ agentName, reason }) => ({ agent_type: agentName, reason }),
  "pre-compact": ({ messageCount, tokenCount }) => ({
    trigger: "auto",
    custom_instructions: "",
    message_count: messageCount,
    token_count: tokenCount,
  }),
  "post-compact": ({ messageCount, tokenCount }) => ({ trigger: "auto", message_count: messageCount, token_count: tokenCount }),
  "session-start": ({ resumed }) => ({ source: resumed ? "resume" : "startup" }),
  "session-end": ({ reason }) => ({ reason }),
};

/** What a shell hook reads from stdin. */
export function shellHookInput<P extends ShellPoint>(
  { point, session, runId, agent, callId }: HookContext<P>,
  payload: HookPayloads[P],
  { cwd, toolNames }: { readonly cwd: string | undefined; readonly toolNames: { readonly [tool: string]: string } },
): JsonObject {
  const toolName = (tool: string): string => (Object.hasOwn(toolNames, tool) ? (toolNames[tool] as string) : tool);
  return {
    hook_event_name: SHELL_EVENTS[point],
    session_id: session,
    ...(cwd !== undefined && { cwd }),
    run_id: runId,
    agent_name: agent,
    ...(callId !== undefined && { tool_use_id: callId }),
    ...(point === "notification" && { notification_type: notificationType(callId) }),
    ...FIELDS[point](payload, toolName),
  };
}

/** Told apart by whether there is a call that somebody must allow. */
export function notificationType(callId: string | undefined): "permission_prompt" | "warning" {
  return callId === undefined ? "warning" : "permission_prompt";
}
