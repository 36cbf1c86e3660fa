import type { JsonObject, NeedsContext, RunId, SessionId, Tool } from "@keelson/protocol";

/** A run for which a context is made. */
export interface ContextRequest {
  readonly session: SessionId;
  readonly runId: RunId;
  /** The name of the agent. */
  readonly agent: string;
  /** The agent's, with the run's own on top. That of a child begins with that of its parent. It is logged, so every resume sees the same. */
  readonly metadata: JsonObject;
  /** The agent's working directory, if it has one. */
  readonly cwd?: string;
  /** The run that started this one as its child. */
  readonly parent?: { readonly runId: RunId; readonly session?: SessionId };
  /** Fires when the run is aborted, or this process gives it up. */
  readonly signal: AbortSignal;
}

/** A run for which its agent makes a context of its own. */
export interface AgentContextRequest<Inherited = unknown> extends ContextRequest {
  /** The context that the run would have otherwise: that of its parent, else that of the runner. `undefined` if there is none. */
  readonly inherited: Inherited;
}

/**
 * Makes the context of tools: called when a process starts or resumes a run. A value with `Symbol.asyncDispose` or `Symbol.dispose` is disposed of when
 * the run ends or suspends in this process.
 */
export type ContextFactory<Context> = (request: ContextRequest) => Context | Promise<Context>;

/** Any tool, whatever context it needs. */
export type AnyTool = Tool<unknown, never>;

/** Past a definition all tools are alike, because the loop gives each call the context of its run. */
export function asTools(tools: readonly AnyTool[]): readonly Tool[] {
  return tools as readonly unknown[] as readonly Tool[];
}

interface Needing<Context> {
  readonly needsContext?: NeedsContext<Context>;
}

/** The context that all of these tools, or agents, need. `unknown`: none. */
export type ContextOf<T> = [T] extends [Needing<infer Context>] ? Context : unknown;
