import type {
  JsonObject,
  JsonValue,
  McpConnectionState,
  McpToolDescriptor,
  ToolAnswer,
  ToolInference,
  ToolInferenceAnswer,
  ToolQuestion,
} from "@keelson/protocol";

/** What a tool of a server gave. */
export interface McpToolResult {
  /** Blocks of the protocol as they came: text, images, audio, links to resources, resources. */
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonValue;
  readonly isError: boolean;
}

export interface McpRequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface McpCallOptions extends McpRequestOptions {
  /** Sent with the call, for the server to read (`_meta`). */
  readonly meta?: JsonObject | undefined;
  /** Whose call it is. What a server asks while calls of several are open is not answered where it can't be told whose it is. */
  readonly owner?: string | undefined;
  readonly onProgress?: ((message: string, ratio?: number) => void) | undefined;
  /** Answers what the server asks a person during this call. Default: `onElicitation` of the manager. */
  readonly ask?: ((question: ToolQuestion) => Promise<ToolAnswer>) | undefined;
  /** Answers what the server asks a model during this call. Default: it is refused. */
  readonly infer?: ((request: ToolInference) => Promise<ToolInferenceAnswer>) | undefined;
}

export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface McpResourceTemplate extends Omit<McpResource, "uri"> {
  readonly uriTemplate: string;
}

/** Exactly one of `text` and `blob` (base64). */
export interface McpResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

export interface McpPromptMessage {
  readonly role: "user" | "assistant";
  readonly content: JsonObject;
}

/** What a value is completed for: an argument of a prompt, or a variable of a resource template. */
export type McpCompletionTarget = { readonly prompt: string } | { readonly uriTemplate: string };

/** What there is of an argument, to be completed. */
export interface McpCompletionArgument {
  readonly name: string;
  readonly value: string;
  /** The other arguments, as far as they are known: what fits may depend on them. */
  readonly others?: { readonly [name: string]: string } | undefined;
}

/** What a server tells of without being asked. */
export type McpNotice =
  | { readonly type: "tools-changed" | "resources-changed" | "prompts-changed" }
  | { readonly type: "resource-updated"; readonly uri: string }
  | { readonly type: "log"; readonly level: string; readonly logger?: string; readonly data: JsonValue }
  /** The connection is gone, and nobody here closed it. */
  | { readonly type: "closed"; readonly problem: string };

export interface McpTransportStatus {
  readonly state: McpConnectionState;
  readonly protocolVersion?: string;
  /** Whether it said so when it was connected last. */
  readonly hasResources?: boolean;
  readonly problems: readonly string[];
}

/**
 * A connection to one server. Failures reject with `McpError`. It reconnects when it is told to: keeping connections up, and counting what they do, is
 * up to the manager.
 */
export interface McpTransport {
  /** Does nothing where it is connected. Those who ask while it is being connected wait for the same attempt. */
  connect(): Promise<void>;
  reconnect(): Promise<void>;
  /** Resolves when nothing of it is left: a server that is a program has ended with all that it started. */
  disconnect(): Promise<void>;
  status(): McpTransportStatus;
  /** Tools that have no usable form are left out; `status().problems` names them. */
  listTools(options?: McpRequestOptions): Promise<readonly McpToolDescriptor[]>;
  /** It is sent once: where the connection is lost in the middle, whether it was carried out is not known. */
  callTool(tool: string, input: JsonObject, options?: McpCallOptions): Promise<McpToolResult>;
  /** Whether the server answers. */
  ping(options?: McpRequestOptions): Promise<void>;
  listResources(options?: McpRequestOptions): Promise<readonly McpResource[]>;
  listResourceTemplates(options?: McpRequestOptions): Promise<readonly McpResourceTemplate[]>;
  readResource(uri: string, options?: McpRequestOptions): Promise<readonly McpResourceContents[]>;
  /** `resource-updated` tells when it changed, until the returned function is called. */
  subscribe(uri: string, options?: McpRequestOptions): Promise<() => Promise<void>>;
  listPrompts(options?: McpRequestOptions): Promise<readonly McpPrompt[]>;
  getPrompt(name: string, input: { readonly [name: string]: string }, options?: McpRequestOptions): Promise<readonly McpPromptMessage[]>;
  complete(target: McpCompletionTarget, argument: McpCompletionArgument, options?: McpRequestOptions): Promise<readonly string[]>;
  /** @returns ends it */
  onNotice(listener: (notice: McpNotice) => void): () => void;
}
