import type { Client, ElicitResult } from "@modelcontextprotocol/client";
import { importCompiled } from "./import-compiled.ts";
import { serveMcpHttp, type McpServer, type ServeMcpHttpOptions } from "keelson/mcp";

export type Era = "handshake" | "stateless";
export const ERAS: readonly Era[] = ["handshake", "stateless"];

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly url: string;
  /** Messages of questions that the client was asked, in order. */
  readonly asked: string[];
  /** Closes the server alone. */
  close(options: { readonly graceMs: number }): Promise<void>;
}

export interface ConnectOptions {
  readonly era: Era;
  /** What the person at the client says to a form or a page. Default: the client can't be asked. */
  readonly answer?: (message: string, params: { readonly url?: string }) => ElicitResult | Promise<ElicitResult>;
  /** What the model of the client says. Default: it offers none. */
  readonly model?: (prompt: string) => string;
  readonly http?: ServeMcpHttpOptions;
  readonly token?: string;
}

const loadClient = () => importCompiled<typeof import("@modelcontextprotocol/client")>("@modelcontextprotocol/client");

/** Serves over HTTP and connects the official client to it, in the revision that is wanted. */
export async function connect(server: McpServer, options: ConnectOptions): Promise<Connected> {
  const http = await serveMcpHttp(server, options.http);
  const asked: string[] = [];
  const { answer, model } = options;
  const { Client, StreamableHTTPClientTransport } = await loadClient();
  const client = new Client(
    { name: "test-client", version: "1.0.0" },
    {
      capabilities: {
        ...(answer !== undefined && { elicitation: { form: {}, url: {} } }),
        ...(model !== undefined && { sampling: {} }),
      },
      ...(options.era === "stateless" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return await answer(params.message, params as { readonly url?: string });
    });
  if (model !== undefined)
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      const [first] = params.messages;
      const content = Array.isArray(first?.content) ? first.content[0] : first?.content;
      return {
        role: "assistant",
        model: "client-model",
        stopReason: "endTurn",
        content: { type: "text", text: model(content?.type === "text" ? content.text : "") },
      };
    });
  await client.connect(
    new StreamableHTTPClientTransport(
      new URL(http.url),
      options.token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${options.token}` } } },
    ),
  );
  return {
    client,
    url: http.url,
    asked,
    close: (closing) => http.close(closing),
    async [Symbol.asyncDispose]() {
      await client.close();
      await http.close({ graceMs: 1 });
    },
  };
}
