import type { JsonObject, McpLogLevel, ToolAnswer, ToolCall, ToolInference, ToolInferenceAnswer, ToolQuestion } from "@keelson/protocol";

/** What a client may offer to servers. */
export type ClientOffer = "elicitation" | "sampling" | "roots";

/** A folder that the client works in. */
export interface ClientRoot {
  readonly uri: string;
  readonly name?: string;
}

/** Of one question among those of a request. */
export interface McpAskOptions {
  /** What it is called on the wire, unique in the request. Default: by its order. */
  readonly key?: string | undefined;
}

/** What a client asked, and the way back to it: for tools, prompts and resources that do more than compute. */
export interface McpRequest {
  /** As in the protocol: `tools/call`. */
  readonly method: string;
  /**
   * `stateless`: revision 2026-07-28, in which a question ends the request and the client sends it again with the answer. `handshake`: the
   * revisions before, in which the request stays open.
   */
  readonly era: "handshake" | "stateless";
  readonly client?: { readonly name: string; readonly version: string };
  /** Who it is, where the server authenticates clients. */
  readonly principal?: string;
  /** What of the client can be asked. */
  readonly offers: { readonly forms: boolean; readonly urls: boolean; readonly sampling: boolean; readonly roots: boolean };
  /** What came with the request as `_meta`, without the members that the protocol uses itself. */
  readonly meta: JsonObject;
  /** Fires when the client cancels the request or is gone. */
  readonly signal: AbortSignal;
  /** A message for whoever watches the client; it is left out below the level that the client wants. */
  log(level: McpLogLevel, data: unknown, logger?: string): void;
  progress(message: string, ratio?: number): void;
  /** Asks the person at the client. One that the client can't ask is `cancelled`, with the reason. */
  ask(question: ToolQuestion, options?: McpAskOptions): Promise<ToolAnswer>;
  /** Asks the model of the client, where it offers that. */
  infer(request: ToolInference, options?: McpAskOptions): Promise<ToolInferenceAnswer>;
  /**
   * For work that is nothing without it: a client of the stateless revision that does not offer it is told so as the protocol has it, and can come
   * back with more. @throws Error
   */
  require(offer: ClientOffer): void;
  /** The folders of the client; `undefined` where it tells none. */
  roots(options?: McpAskOptions): Promise<readonly ClientRoot[] | undefined>;
}

const REQUEST: unique symbol = Symbol.for("keelson.mcp-request");

interface WithRequest {
  readonly [REQUEST]?: McpRequest;
}

/** The request of the client that a tool call was made for; `undefined` for a call that came another way. */
export function mcpRequest(call: ToolCall): McpRequest | undefined {
  return (call as ToolCall & WithRequest)[REQUEST];
}

/** Symbols go along where a call is copied. */
export function withRequest(call: ToolCall, request: McpRequest): ToolCall {
  return Object.assign(call, { [REQUEST]: request });
}
