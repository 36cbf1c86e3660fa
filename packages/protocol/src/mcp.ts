import type { JsonObject, JsonValue } from "./json.ts";

/** What may be said of any server. */
export interface McpServerSettings {
  /** Whether `startAll` connects to it. Default true. */
  readonly enabled?: boolean;
  /** A run does not begin its first turn without it: it waits for `startupWaitMs`, and says so where the server did not come. Default false. */
  readonly required?: boolean;
  /** How long, in ms, the first turn of a run waits for it. Default 0; 10 s where it is `required`. */
  readonly startupWaitMs?: number;
  /** How long connecting may take, in ms. Default 30 s. */
  readonly connectTimeoutMs?: number;
  /** How long a request may stay without an answer or progress, in ms. Default 60 s. */
  readonly timeoutMs?: number;
  /** The most ms that a request may take, with any amount of progress. Default one hour, or `timeoutMs` if that is longer. */
  readonly maxTotalMs?: number;
  /**
   * A call in a run that takes longer, in ms, is answered with an id, and goes on as a job of the run, which is told when it ends. Default: calls are
   * waited for.
   */
  readonly backgroundAfterMs?: number;
  /** Bytes of one message of the server. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** From which level on the server tells what it logs. Default `info` where somebody listens (`onNotice`), else as the server likes. */
  readonly logLevel?: McpLogLevel;
  /** A person vouches for what this server says of its tools: those that it calls read-only count as such. Default false. */
  readonly trustAnnotations?: boolean;
}

export type McpLogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** How to reach a server over HTTP. `${NAME}` and `${NAME:-default}` in its texts are taken from the environment. */
export interface McpHttpSettings extends McpServerSettings {
  readonly url: string;
  /** A bearer token: a reference for the secret resolver where there is one, else the token itself or `${NAME}`. */
  readonly authToken?: string;
  readonly headers?: { readonly [name: string]: string };
  /** How to be let in where it wants tokens of an authorization server. Default: as a client that registers itself, for a person who logs in. */
  readonly oauth?: McpOAuthSettings;
}

/** How tokens for a server over HTTP are got. Secrets are references for the secret resolver where there is one, else the values or `${NAME}`. */
export interface McpOAuthSettings {
  /**
   * Default `authorization-code`: a person logs in. `client-credentials`: the client itself is let in, without a person. `identity-assertion`: so is the
   * person for whom an identity provider of their organisation vouches.
   */
  readonly grant?: McpOAuthGrant;
  /** Of a client that the authorization server knows. Default: the client registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** In place of a secret: a private key (PKCS 8, PEM) whose public half the authorization server knows (`private_key_jwt`). */
  readonly privateKey?: string;
  /** What the private key signs with. Default `ES256`. */
  readonly algorithm?: string;
  /** Where a document about the client is (a client ID metadata document): what it is called by authorization servers that read such. */
  readonly clientMetadataUrl?: string;
  /** What is asked for, in words with spaces between. Default: what the server says that it needs. */
  readonly scope?: string;
  /** The authorization server that the credentials are for. They are sent to no other; without it, the server says which one it is. */
  readonly issuer?: string;
  /** Who vouches for the person, where the grant is `identity-assertion`. */
  readonly identityProvider?: McpIdentityProvider;
}

export type McpOAuthGrant = "authorization-code" | "client-credentials" | "identity-assertion";

/** Gives, for a token that says who somebody is, one that says so to an authorization server. */
export interface McpIdentityProvider {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The token of the person (an OpenID Connect ID token). */
  readonly idToken: string;
}

/** How to reach a Model Context Protocol server. Tokens are references for the secret resolver, not values. */
export type McpServerConfig =
  | (McpServerSettings & {
      readonly type: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      /** All that its environment holds, beside PATH and HOME. `${NAME}` and `${NAME:-default}` are taken from this process's own. */
      readonly env?: { readonly [name: string]: string };
      readonly cwd?: string;
      /** Its program runs in a sandbox, which the manager's `exec` has to provide, or the environment of a run. `false`: outside of one. Default: as `exec` likes. */
      readonly sandbox?: boolean;
    })
  | (McpHttpSettings & { readonly type: "http" })
  /** The transport before Streamable HTTP. */
  | (McpHttpSettings & { readonly type: "sse" })
  /** A server in this process, by the name under which it was given to the manager. */
  | (McpServerSettings & { readonly type: "in-process"; readonly name: string });

export type McpTransportKind = McpServerConfig["type"];
export type McpConnectionState = "disconnected" | "connecting" | "connected" | "reconnecting" | "shutdown";

export interface McpServerStatus {
  readonly name: string;
  readonly state: McpConnectionState;
  readonly callsSucceeded: number;
  readonly callsFailed: number;
  readonly enabled: boolean;
  /** Why it is not connected, or what is wrong with what it offers. */
  readonly problems?: readonly string[];
  /** The revision of the protocol that is spoken, while connected. */
  readonly protocolVersion?: string;
}

export interface McpToolDescriptor {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly title?: string;
  readonly outputSchema?: JsonObject;
  /** What the server says of the tool; nobody vouches for it. */
  readonly annotations?: McpToolAnnotations;
}

export interface McpToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A server asks the user something while one of its tools runs. */
export interface ElicitationRequest {
  readonly requestId: string;
  readonly message: string;
  readonly responseSchema: JsonObject;
  readonly required: boolean;
  /** The server that asks. */
  readonly server?: string;
  /** A page where the user does something; the answer says that it was done. */
  readonly url?: string;
}

export type ElicitationResult =
  | { readonly type: "provided"; readonly requestId: string; readonly value: JsonValue }
  | { readonly type: "cancelled"; readonly requestId: string };

export type OnElicitation = (
  request: ElicitationRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ElicitationResult> | ElicitationResult;
