import type { InProcessServer } from "keelson/mcp";

interface Params {
  readonly name?: string;
  readonly arguments?: unknown;
}

interface Wire {
  onmessage?: (message: { readonly id?: number; readonly method: string; readonly params?: Params }) => void;
  send(message: unknown): Promise<void>;
  start(): Promise<void>;
}

/** A server in this process that says of its tools whatever it is told to, as JSON. Each answers with its name, or with this content. */
export function rawServer(
  tools: string,
  content?: readonly object[],
  onCall: (params: Params | undefined) => void = () => {},
): InProcessServer {
  return () => ({
    async connect(transport) {
      const wire = transport as Wire;
      const results: { readonly [method: string]: (params?: Params) => unknown } = {
        "initialize": () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } }),
        "tools/list": () => ({ tools: JSON.parse(tools) as unknown }),
        "tools/call": (params) => {
          onCall(params);
          return { content: content ?? [{ type: "text", text: params?.name }] };
        },
      };
      wire.onmessage = ({ id, method, params }) => {
        if (id === undefined) return;
        const result = Object.hasOwn(results, method) ? results[method]?.(params) : undefined;
        void wire.send({ jsonrpc: "2.0", id, ...(result === undefined ? { error: { code: -32601, message: "no" } } : { result }) });
      };
      await wire.start();
    },
  });
}
