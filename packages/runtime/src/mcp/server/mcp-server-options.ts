import type { Decision, Tool, ToolCall, ToolContent } from "@keelson/protocol";
import type { Agent, Run, RunInput, RunOptions } from "../../agent/index.ts";
import type { Sessions } from "../../session/index.ts";
import type { MaybeLater } from "../../tools/tool-definition.ts";
import type { McpRequest } from "./mcp-request.ts";

/** Text or bytes of a resource. */
export type ServedResourceContent =
  | { readonly uri?: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri?: string; readonly mimeType?: string; readonly bytes: Uint8Array };

/** Values that an argument may have, for what was typed so far. At most 100 are sent. */
export type CompleteArgument = (value: string, given: { readonly [argument: string]: string }) => MaybeLater<readonly string[]>;

interface ResourceFields {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** One thing under one address. */
export interface ServedResource extends ResourceFields {
  readonly uri: string;
  readonly size?: number | undefined;
  read(request: McpRequest): MaybeLater<string | ServedResourceContent | readonly ServedResourceContent[]>;
}

/** Many things, each under an address that a template of RFC 6570 gives. */
export interface ServedResourceTemplate extends ResourceFields {
  readonly uriTemplate: string;
  /** `undefined`: there is no such thing. */
  read(
    uri: string,
    variables: { readonly [name: string]: string },
    request: McpRequest,
  ): MaybeLater<string | ServedResourceContent | readonly ServedResourceContent[] | undefined>;
  /** Those that are listed beside the resources. */
  list?(request: McpRequest): MaybeLater<readonly Omit<ServedResource, "read">[]>;
  readonly complete?: { readonly [variable: string]: CompleteArgument } | undefined;
}

export interface ServedPromptMessage {
  readonly role: "user" | "assistant";
  /** A text, or parts as tools return them. Each part goes as a message of its own. */
  readonly content: string | ToolContent["content"];
}

export interface ServedPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?:
    | readonly { readonly name: string; readonly description?: string; readonly required?: boolean; readonly complete?: CompleteArgument }[]
    | undefined;
  get(given: { readonly [argument: string]: string }, request: McpRequest): MaybeLater<string | readonly ServedPromptMessage[]>;
}

/** An agent that is offered as a tool. */
export interface ServedAgent {
  /** As the runner knows it. */
  readonly agent: Pick<Agent<unknown>, "name" | "output"> & { readonly description?: string | undefined };
  /** Default: the agent's name. */
  readonly name?: string | undefined;
  /** Default: the agent's. */
  readonly description?: string | undefined;
  /** Of each run, on top of the agent's own. */
  readonly limits?: RunOptions["limits"];
  /** Instead of the agent's. */
  readonly model?: string | undefined;
  /** Reaches `instructions` and `onModelError` of the agent. */
  readonly metadata?: RunOptions["metadata"];
  /** Makes the session of a run that goes on in none. Default: one with an id that tells whose it is. */
  newSession?(request: McpRequest): MaybeLater<string>;
}

/** What a server needs of a runner, of one agent or of several. */
export interface ServedRunner {
  readonly sessions: Sessions;
  /** `agent` is the name of one of its agents. */
  run(input: RunInput, options: RunOptions & { readonly agent: never }): Run<unknown>;
  resume(session: string, options?: { readonly signal?: AbortSignal }): Promise<Run<unknown>>;
  approve(token: string, decision: Decision, options?: { readonly key?: string | undefined }): Promise<unknown>;
}

export interface McpServerOptions {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  /** For the model of the client: what the server is for and how to use it. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Agents as tools: a task in, the output of a run out. They need `runner`. */
  readonly agents?: readonly (Agent<unknown> | ServedAgent)[] | undefined;
  /** Runs the agents: made by `createRunner` of these agents. */
  readonly runner?: ServedRunner | undefined;
  /** Sessions that clients can list and read: `runner.sessions`. */
  readonly sessions?: Sessions | undefined;
  /**
   * Whether a client may read a session and go on in it. Default: where clients are authenticated, only in those that it began here; else in all.
   */
  mayUseSession?(session: string, request: McpRequest): MaybeLater<boolean>;
  readonly resources?: readonly (ServedResource | ServedResourceTemplate)[] | undefined;
  readonly prompts?: readonly ServedPrompt[] | undefined;
  /** What tools find in their calls: working directory, files, programs, state, secrets. */
  readonly services?: Pick<ToolCall, "cwd" | "files" | "exec" | "state" | "secrets" | "environment"> | undefined;
  /** Entries of a page of a list. Default 100. */
  readonly pageSize?: number | undefined;
  /** Tool calls at work at a time, over all clients; a further one is told to come back. Default 64. */
  readonly maxConcurrentCalls?: number | undefined;
  /** How long a call that may not be repeated is held while the client is asked. Default 5 minutes. */
  readonly approvalWaitMs?: number | undefined;
  /**
   * Signs what a client of the stateless revision brings back with an answer; at least 32 bytes. Processes that serve the same clients need the
   * same. Default: a random one.
   */
  readonly stateKey?: Uint8Array | undefined;
  /** Told of what went wrong and of which a client learns little or nothing. Default: nobody is. */
  onError?(error: Error): void;
}
