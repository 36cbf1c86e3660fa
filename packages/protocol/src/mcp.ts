import type { JsonObject, JsonValue } from "./json.ts";

/** How to reach a Model Context Protocol server. Tokens are references for the secret resolver, not values. */
export type McpServerConfig =
  | {
      readonly type: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: { readonly [name: string]: string };
    }
  | { readonly type: "http"; readonly url: string; readonly authToken?: string; readonly timeoutMs?: number }
  /** The transport before Streamable HTTP; served by the same client in its legacy mode. */
  | { readonly type: "sse"; readonly url: string; readonly authToken?: string; readonly timeoutMs?: number }
  | { readonly type: "in-process"; readonly name: string };

export type McpTransportKind = McpServerConfig["type"];
export type McpConnectionState = "disconnected" | "connecting" | "connected" | "reconnecting" | "shutdown";

export interface McpServerStatus {
  readonly name: string;
  readonly state: McpConnectionState;
  readonly callsSucceeded: number;
  readonly callsFailed: number;
  readonly enabled: boolean;
}

export interface McpToolDescriptor {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A server asks the user something while one of its tools runs. */
export interface ElicitationRequest {
  readonly requestId: string;
  readonly message: string;
  readonly responseSchema: JsonObject;
  readonly required: boolean;
}

export type ElicitationResult =
  | { readonly type: "provided"; readonly requestId: string; readonly value: JsonValue }
  | { readonly type: "cancelled"; readonly requestId: string };

export type OnElicitation = (
  request: ElicitationRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ElicitationResult> | ElicitationResult;
