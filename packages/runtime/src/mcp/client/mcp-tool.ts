import {
  type JsonObject,
  McpError,
  type McpToolDescriptor,
  type PlannedCall,
  type Tool,
  type ToolCall,
  type ToolEffect,
  type ToolOutput,
} from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../json/index.ts";
import { bindApproval } from "../../tools/bind-approval.ts";
import { toolOutput } from "../../tools/call-tool-output.ts";
import { defineTool, type ToolDefinition } from "../../tools/index.ts";
import type { BackgroundCalls } from "./background-calls.ts";
import type { ManagedServer } from "./managed-server.ts";
import type { McpCallOptions } from "./mcp-transport.ts";

/** The tool of a server as a tool like any other. @param name what models call it by */
export function mcpTool(server: ManagedServer, descriptor: McpToolDescriptor, name: string, background: BackgroundCalls): Tool {
  const { description, inputSchema, outputSchema, annotations } = descriptor;
  const effect = effectOf(server, descriptor);
  const needsApproval = approvalOf(server, descriptor);
  const tool = defineTool({
    name,
    description,
    input: inputSchema as { readonly type?: string },
    effect,
    risk: annotations?.destructiveHint === true ? "high" : effect === "read" ? "low" : "medium",
    // Who changes one of these has another tool.
    version: shortHash(canonicalJson([descriptor.name, description, inputSchema, outputSchema ?? null, { ...annotations }])),
    ...(needsApproval !== undefined && { needsApproval }),
    untrusted: () => `MCP server ${server.name}`,
    async execute(input, call) {
      const make = async (own: ToolCall): Promise<ToolOutput> => {
        try {
          return toolOutput(await server.callTool(descriptor.name, input, callOptions(own)));
        } catch (error) {
          throw effect === "read" ? error : sayUnknown(error);
        }
      };
      const { backgroundAfterMs: afterMs } = server.settings;
      return afterMs === undefined ? make(call) : background.during(call, { name, server: server.name, afterMs }, make);
    },
  });
  return { ...tool, origin: `the MCP server "${server.name}"` };
}

/** What a server says of its tools counts against them; in their favour only where a person vouches for it. */
function effectOf({ settings }: ManagedServer, { annotations = {} }: McpToolDescriptor): ToolEffect {
  if (settings.trustAnnotations !== true || annotations.destructiveHint === true) return "write";
  return annotations.readOnlyHint === true ? "read" : annotations.idempotentHint === true ? "idempotent" : "write";
}

/** Takes the option from the tool itself if the server is in this process: the protocol has no field for it. */
function approvalOf({ tools }: ManagedServer, { name }: McpToolDescriptor): ToolDefinition<JsonObject>["needsApproval"] {
  const tool = tools?.find((one) => one.name === name);
  const { needsApproval } = tool ?? {};
  if (tool === undefined || needsApproval === undefined || needsApproval === true) return needsApproval;
  const ask = bindApproval(tool, needsApproval) as Exclude<typeof needsApproval, true>;
  // Arguments that do not fit are refused by the server.
  const asksAfterParsing = async (input: JsonObject, call: PlannedCall): Promise<boolean> => {
    const parsed = await tool.parse(input);
    return parsed.issues === undefined ? ask(parsed.value, call) : false;
  };
  return Object.defineProperty(asksAfterParsing, "name", { value: needsApproval.name });
}

function callOptions(call: ToolCall): McpCallOptions {
  const { ask, infer } = call;
  return {
    signal: call.signal,
    owner: call.session,
    meta: { "keelson/session": call.session, "keelson/idempotency-key": call.idempotencyKey },
    onProgress: (message, ratio) => call.progress(message, ratio),
    ...(ask !== undefined && { ask: (question) => ask.call(call, question) }),
    ...(infer !== undefined && { infer: (request) => infer.call(call, request) }),
  };
}

/** Where a call was sent and no answer came. */
function sayUnknown(error: unknown): unknown {
  if (!McpError.is(error, "transport") && !McpError.is(error, "timeout")) return error;
  const message = `${error.message} Whether the call was carried out is not known: find out before you make it again.`;
  return new McpError({ ...error.failure, message }, { cause: error.cause });
}
