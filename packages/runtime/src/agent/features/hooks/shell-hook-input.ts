import type { HookPayloads, HookPoint, JsonObject, JsonValue } from "@keelson/protocol";
import type { ToolAlias } from "../../../tools/tool-aliases.ts";
import { argumentsThere } from "../../../tools/translate-arguments.ts";
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

type Fields = { readonly [P in ShellPoint]: (payload: HookPayloads[P], shown: ShownTool) => JsonObject };

/** A call as the command reads it. */
type ShownTool = (call: { readonly toolName: string; readonly arguments: JsonValue }) => JsonObject;

const FIELDS: Fields = {
  "pre-tool-use": (payload, shown) => shown(payload),
  "post-tool-use": (payload, shown) => ({
    ...shown(payload),
    tool_response: payload.output,
  }),
  "post-tool-use-failure": (payload, shown) => ({
    ...shown(payload),
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

interface InputOptions {
  readonly cwd: string | undefined;
  readonly toolNames: { readonly [tool: string]: string };
  readonly spelling: ((tool: string) => ToolAlias | undefined) | undefined;
}

/** What a shell hook reads from stdin. */
export function shellHookInput<P extends ShellPoint>(
  { point, session, runId, agent, callId }: HookContext<P>,
  payload: HookPayloads[P],
  { cwd, toolNames, spelling }: InputOptions,
): JsonObject {
  const shown: ShownTool = ({ toolName, arguments: input }) => {
    const alias = spelling?.(toolName);
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    return {
      tool_name: alias?.name ?? (Object.hasOwn(toolNames, toolName) ? (toolNames[toolName] as string) : toolName),
      tool_input: alias !== undefined && isObject ? argumentsThere(alias, input as JsonObject, cwd) : input,
    };
  };
  return {
    hook_event_name: SHELL_EVENTS[point],
    session_id: session,
    ...(cwd !== undefined && { cwd }),
    run_id: runId,
    agent_name: agent,
    ...(callId !== undefined && { tool_use_id: callId }),
    ...(point === "notification" && { notification_type: notificationType(callId) }),
    ...FIELDS[point](payload, shown),
  };
}

/** Told apart by whether there is a call that somebody must allow. */
export function notificationType(callId: string | undefined): "permission_prompt" | "warning" {
  return callId === undefined ? "warning" : "permission_prompt";
}
