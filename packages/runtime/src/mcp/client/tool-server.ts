import type { CallId, Content, JsonObject, JsonValue, Tool } from "@keelson/protocol";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { randomId } from "../../json/random-id.ts";
import { createToolCall, executeLeaf, prepareCall } from "../../tools/index.ts";

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** What a request is answered with. */
type Answer = { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

/** A server in this process that offers these tools: the client's end of the connection to it. */
export function connectToTools(name: string, tools: readonly Tool[]): Transport {
  const calls = new Map<string | number, AbortController>();
  const send = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);

  const callTool = async (id: string | number, params: JsonObject): Promise<Answer> => {
    const tool = tools.find((one) => one.name === params["name"]);
    if (tool === undefined) return refused(INVALID_PARAMS, `There is no tool "${String(params["name"])}".`);
    const prepared = await prepareCall(tool, { input: params["arguments"] ?? {} });
    if (!prepared.ok) return { result: { content: [{ type: "text", text: prepared.message }], isError: true } };
    const abort = new AbortController();
    calls.set(id, abort);
    const token = (params["_meta"] as JsonObject | undefined)?.["progressToken"];
    let steps = 0;
    const call = createToolCall({
      callId: randomId() as CallId,
      idempotencyKey: randomId(),
      signal: abort.signal,
      progress(message, ratio) {
        if (token === undefined) return;
        const progress = ratio === undefined ? { progress: ++steps } : { progress: ratio, total: 1 };
        send({ method: "notifications/progress", params: { progressToken: token, message, ...progress } });
      },
    });
    const { output, isError } = await executeLeaf(tool, prepared.value, call);
    calls.delete(id);
    return { result: { ...toContent(output), isError } };
  };

  const answer = async (id: string | number, method: string, params: JsonObject): Promise<Answer> => {
    if (method === "initialize") {
      const { protocolVersion = "" } = params;
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1.0.0" } } };
    }
    if (method === "ping") return { result: {} };
    if (method === "tools/list") return { result: { tools: tools.map(describe) } };
    if (method === "tools/call") return callTool(id, params);
    return refused(METHOD_NOT_FOUND, `There is no method "${method}" here.`);
  };

  const transport: Transport = {
    async start() {},
    async send(message) {
      if (!("method" in message)) return;
      const params = (message.params ?? {}) as JsonObject;
      if (!("id" in message)) {
        const cancelled = params["requestId"] as string | number;
        if (message.method === "notifications/cancelled") calls.get(cancelled)?.abort(new Error("The caller cancelled it."));
        return;
      }
      const { id, method } = message;
      void answer(id, method, params).then((answered) => send({ id, ...answered }));
    },
    async close() {
      for (const call of calls.values()) call.abort(new Error("The connection was closed."));
      calls.clear();
      transport.onclose?.();
    },
  };
  return transport;
}

function describe({ name, description, inputSchema, effect, risk }: Tool): JsonObject {
  const annotations = {
    readOnlyHint: effect === "read",
    idempotentHint: effect === "idempotent",
    ...(risk === "high" && { destructiveHint: true }),
  };
  return { name, description, inputSchema, annotations };
}

function refused(code: number, message: string): Answer {
  return { error: { code, message } };
}

function toContent(output: JsonValue): { readonly content: JsonValue; readonly structuredContent?: JsonObject } {
  if (typeof output === "string") return { content: [{ type: "text", text: output }] };
  if (typeof output !== "object" || output === null || Array.isArray(output))
    return { content: [{ type: "text", text: JSON.stringify(output) }] };
  const { type, content } = output as JsonObject;
  if (type === "content" && Array.isArray(content)) return { content: (content as unknown as readonly Content[]).map(toBlock) };
  return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output as JsonObject };
}

function toBlock(part: Content): JsonObject {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image" && part.data !== undefined) return { type: "image", mimeType: part.mediaType, data: part.data };
  if (part.type === "file" && part.data !== undefined)
    return { type: "resource", resource: { uri: `file:///${part.name ?? "file"}`, mimeType: part.mediaType, blob: part.data } };
  return { type: "text", text: JSON.stringify(part) };
}
