import type { JsonValue } from "@keelson/protocol";
import type { McpRequestContext, McpServer as SdkMcpServer, ServerContext } from "@modelcontextprotocol/server";
import { digestOf } from "../../json/index.ts";
import type { RequestOrigin } from "./open-request.ts";
import { pageOf } from "./pages.ts";
import type { ServerChange, ServerCore } from "./server-core.ts";
import { servePrompts } from "./serve-prompts.ts";
import { serveResources } from "./serve-resources.ts";
import type { Serving } from "./serving.ts";
import { wireFailure, type WireResult } from "./wire-result.ts";

/**
 * A server of the SDK for one connection, or for one request of the stateless revision.
 * @param context.tells whether it tells its client what changed. Over HTTP whoever serves the stateless revision does that.
 */
export async function createSdkServer(
  core: ServerCore,
  context: Pick<McpRequestContext, "era"> & { readonly tells: boolean },
): Promise<SdkMcpServer> {
  const { sdk, rounds } = await core.load();
  const { name, version, title, instructions } = core.options;
  /** Headers that a tool's schema maps arguments to are checked against what it lists. */
  class ListingServer extends sdk.McpServer {
    override toolInputSchemaJson(tool: string): Record<string, unknown> | undefined {
      return core.tools().get(tool)?.listed.inputSchema;
    }
  }
  const product = new ListingServer(
    { name, version, ...(title !== undefined && { title }) },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      ...(instructions !== undefined && { instructions }),
      inputRequired: { legacyShim: false },
      requestState: { verify: rounds.verify },
    },
  );
  const { server } = product;
  server.onerror = (error) => core.onError(error);
  const serving: Serving = {
    core,
    sdk,
    rounds,
    server,
    watched: new Set(),
    origin: (from) => ({
      ...clientOf(from),
      context: from,
      waitMs: core.waitMs,
      onError: (error) => core.onError(error),
    }),
    invalid: (message, data) => new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message, data),
    page(items, nameOf, cursor) {
      const page = pageOf(items, nameOf, cursor, core.pageSize);
      if (page === undefined) throw serving.invalid(`The cursor ${JSON.stringify(cursor)} is none of this list. List it from its start.`);
      return { ...page, items: [...page.items] };
    },
  };
  /** In the stateless revision each request says it for itself, also where a connection is kept. */
  function clientOf(from: ServerContext): Pick<RequestOrigin, "era" | "client" | "capabilities"> {
    if (context.era === "legacy")
      return { era: "handshake", client: server.getClientVersion(), capabilities: server.getClientCapabilities() };
    const envelope = (from.mcpReq.envelope ?? {}) as { readonly [key: string]: unknown };
    return {
      era: "stateless",
      client: envelope[sdk.CLIENT_INFO_META_KEY] as RequestOrigin["client"],
      capabilities: envelope[sdk.CLIENT_CAPABILITIES_META_KEY] as RequestOrigin["capabilities"],
    };
  }
  serveTools(serving);
  serveResources(serving);
  servePrompts(serving);
  if (context.tells) tellChanges(serving, context.era);
  return product;
}

function serveTools(serving: Serving): void {
  const { core, server, rounds } = serving;
  server.setRequestHandler("tools/list", ({ params }) => {
    const { items, nextCursor } = serving.page([...core.tools().values()], ({ listed }) => listed.name, params?.cursor);
    const tools = items.map(({ listed }) => listed) as never;
    return { tools, ...(nextCursor !== undefined && { nextCursor }) };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = core.tools().get(params.name);
    if (tool === undefined) throw serving.invalid(`There is no tool ${JSON.stringify(params.name)}.`);
    const giveBack = core.takePlace();
    if (giveBack === undefined) return wireFailure("The server has as many calls at work as it takes. Call again later.") as never;
    const input = params.arguments as JsonValue | undefined;
    try {
      const result = await rounds.take<WireResult>(serving.origin(context), {
        subject: digestOf(["tools/call", params.name, input ?? {}]),
        mayRepeat: tool.mayRepeat,
        do: (round) => tool.call(input, round),
        lost: () =>
          wireFailure(
            `The call of ${params.name} was given up before the answer came. Whether it took effect is not known: check before you call it again.`,
          ),
      });
      if ("resultType" in result) return result as never;
      return server.projectCallToolResult(result as never, tool.listed.outputSchema) as never;
    } finally {
      giveBack();
    }
  });
}

/** In the stateless revision the SDK keeps who listens to what, and lets through what is wanted. */
function tellChanges({ core, server, watched }: Serving, era: McpRequestContext["era"]): void {
  const failed = (error: unknown): void => core.onError(error instanceof Error ? error : new Error(String(error)));
  const tell = (change: ServerChange): Promise<void> | undefined => {
    switch (change.type) {
      case "tools":
        return server.sendToolListChanged();
      case "prompts":
        return server.sendPromptListChanged();
      case "resources":
        return server.sendResourceListChanged();
      case "resource":
        return era === "modern" || watched.has(change.uri) ? server.sendResourceUpdated({ uri: change.uri }) : undefined;
    }
  };
  const stop = core.onChange((change) => {
    const telling = tell(change);
    telling?.catch(failed);
  });
  server.onclose = stop;
}
