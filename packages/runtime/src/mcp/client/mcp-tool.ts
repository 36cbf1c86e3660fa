import { McpError, type McpToolDescriptor, type Tool, type ToolCall, type ToolEffect, type ToolOutput } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../json/index.ts";
import { defineTool } from "../../tools/index.ts";
import type { BackgroundCalls } from "./background-calls.ts";
import type { ManagedServer } from "./managed-server.ts";
import type { McpCallOptions } from "./mcp-transport.ts";
import { toolOutput } from "./tool-output.ts";

/** The tool of a server as a tool like any other. @param name what models call it by */
export function mcpTool(server: ManagedServer, descriptor: McpToolDescriptor, name: string, background: BackgroundCalls): Tool {
  const { description, inputSchema, outputSchema, annotations } = descriptor;
  const effect = effectOf(server, descriptor);
  return defineTool({
    name,
    description,
    input: inputSchema as { readonly type?: string },
    effect,
    risk: annotations?.destructiveHint === true ? "high" : effect === "read" ? "low" : "medium",
    // Who changes one of these has another tool.
    version: shortHash(canonicalJson([descriptor.name, description, inputSchema, outputSchema ?? null, { ...annotations }])),
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
}

/** What a server says of its tools counts against them; in their favour only where a person vouches for it. */
function effectOf({ settings }: ManagedServer, { annotations = {} }: McpToolDescriptor): ToolEffect {
  if (settings.trustAnnotations !== true || annotations.destructiveHint === true) return "write";
  return annotations.readOnlyHint === true ? "read" : annotations.idempotentHint === true ? "idempotent" : "write";
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
