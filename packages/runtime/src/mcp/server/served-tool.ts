import type { CallId, JsonValue, SessionId, Tool, ToolCall } from "@keelson/protocol";
import { digestOf } from "../../json/index.ts";
import { createToolCall, executeLeaf, prepareCall } from "../../tools/index.ts";
import { describeTool, type ListedTool } from "./describe-tool.ts";
import { withRequest } from "./mcp-request.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import type { Round } from "./rounds.ts";
import { wireFailure, wireResult, type WireResult } from "./wire-result.ts";

/** What a client can call. */
export interface ServedTool {
  readonly listed: ListedTool;
  readonly mayRepeat: boolean;
  call(input: JsonValue | undefined, round: Round): Promise<WireResult>;
}

export function servedTool(tool: Tool, options: Pick<McpServerOptions, "services">, stopping: AbortSignal): ServedTool {
  return {
    listed: describeTool(tool),
    mayRepeat: tool.effect !== "write",
    async call(input, { open, id }) {
      const prepared = await prepareCall(tool, { input: input ?? {} });
      if (!prepared.ok) return wireFailure(prepared.message);
      const { request } = open;
      const fields: Partial<ToolCall> = {
        ...options.services,
        callId: `c_${id}` as CallId,
        session: `mcp-${id}` as SessionId,
        idempotencyKey: digestOf([id, tool.name, tool.version, prepared.input]),
        signal: request.signal,
        stopping,
        progress: (message, ratio) => request.progress(message, ratio),
        ask: (question) => request.ask(question),
        infer: (inference) => request.infer(inference),
      };
      return wireResult(tool, await executeLeaf(tool, prepared.value, withRequest(createToolCall(fields), request)));
    },
  };
}
