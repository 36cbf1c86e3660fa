import type { CallId, JsonObject, JsonValue, SessionId, Tool, ToolCall } from "@keelson/protocol";
import { canonicalJson, digestOf, truncateText } from "../../json/index.ts";
import { approvalReason } from "../../tools/approval-reason.ts";
import { createToolCall, executeLeaf, prepareCall } from "../../tools/index.ts";
import { describeTool, type ListedTool } from "./describe-tool.ts";
import { type McpRequest, withRequest } from "./mcp-request.ts";
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
      const refusal = await refusedApproval(tool, prepared, { call: createToolCall(fields), request });
      if (refusal !== undefined) return wireFailure(refusal);
      return wireResult(tool, await executeLeaf(tool, prepared.value, withRequest(createToolCall(fields), request)));
    },
  };
}

/** Asks the person at the client about a call that needs an approval. @returns the reason why it must not run */
async function refusedApproval(
  tool: Tool,
  { input, value }: { readonly input: JsonObject; readonly value: unknown },
  { call, request }: { readonly call: ToolCall; readonly request: McpRequest },
): Promise<string | undefined> {
  if (tool.needsApproval === undefined) return undefined;
  const reason = await approvalReason(tool, value, call);
  if (reason === undefined) return undefined;
  const message = `${reason} Allow ${tool.name} with these arguments? ${truncateText(canonicalJson(input), SHOWN_BYTES).text}`;
  const answer = await request.ask({ message, mayRepeat: true }, { key: "approval" });
  if (answer.type === "provided") return undefined;
  const detail = answer.reason === undefined ? "" : `: ${answer.reason}`;
  return answer.type === "declined"
    ? `A person declined this call${detail}. Do not try it again in another form.`
    : `${reason} Nobody answered, so it did not run${detail}`;
}

/** UTF-8 bytes of the arguments that a person is shown. */
const SHOWN_BYTES = 4 * 1024;
