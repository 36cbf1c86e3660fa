import { AgentError, KeelsonError, type SessionId } from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { Agent } from "../../definition/agent.ts";
import type { ContextFactory, ContextRequest } from "../../definition/tool-context/context-factory.ts";
import { HeldContext } from "../../definition/tool-context/held-context.ts";
import type { RunState } from "../../../session/session-state.ts";
import type { Loop } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { TOOL_CONTEXT, type RunToolContext } from "../../turn/tool-context.ts";

/** The parts of a runner that contexts are made with. */
export interface ContextSources {
  readonly services: Pick<RunnerServices, "context" | "log" | "blobs">;
  find(name: string): Agent<unknown> | undefined;
  names(): readonly string[];
}

/** Where the context of a run comes from: a runner and the parent in this process, or a value that the caller has. */
export type ToolContextOrigin =
  | { readonly runner: ContextSources; readonly inherited?: HeldContext | undefined }
  | { readonly value: unknown };

/** Gives a run a context, if its runner, its agent or an agent above it makes one. */
export function bindToolContext({ parts }: Loop, origin: ToolContextOrigin | undefined): void {
  if (origin === undefined) return;
  if ("value" in origin) {
    parts.set(TOOL_CONTEXT, { value: origin.value, held: [] });
    return;
  }
  const { runner, inherited } = origin;
  const agentsMakeTheirs = runner.names().some((name) => runner.find(name)?.context !== undefined);
  if (runner.services.context === undefined && !agentsMakeTheirs) return;
  const context: OpenableContext = { sources: runner, agentsMakeTheirs, inherited, held: [] };
  parts.set(TOOL_CONTEXT, context);
}

/** Before a run's first turn, and when it is resumed. */
export const openToolContextStep: Step = {
  name: "the context of tools",
  applies: ({ parts }) => parts.get(TOOL_CONTEXT) !== undefined,
  run: async (loop) => {
    const context = loop.parts.need(TOOL_CONTEXT);
    // A rehearsal calls no code of the user. A call whose tool needs the context ends it.
    if (!isOpenable(context) || context.held.length > 0 || loop.execution.outside !== undefined) return;
    await open(loop, context);
  },
};

interface OpenableContext extends RunToolContext {
  readonly sources: ContextSources;
  readonly agentsMakeTheirs: boolean;
  readonly inherited: HeldContext | undefined;
  readonly held: HeldContext[];
  value?: unknown;
}

function isOpenable(context: RunToolContext): context is OpenableContext {
  return "sources" in context;
}

async function open({ agent, execution }: Loop, context: OpenableContext): Promise<void> {
  const { run } = execution.journal.state;
  const request = requestFor(agent, execution.session, run as RunState, execution.signal);
  const { inherited, held } = context;
  if (inherited?.hold()) held.push(inherited);
  else await makeInherited(context, request);
  await makeOwn(agent, held, request);
  context.value = held.at(-1)?.value;
}

function requestFor(agent: Agent<unknown>, session: SessionId, { id, metadata, parent }: RunState, signal: AbortSignal): ContextRequest {
  const { cwd } = agent.options;
  return {
    session,
    runId: id,
    agent: agent.name,
    metadata,
    ...(cwd !== undefined && { cwd }),
    ...(parent && { parent: { runId: parent.run, ...(parent.session && { session: parent.session }) } }),
    signal,
  };
}

/** Makes what a run has without a context of its own agent: the runner's, then those of the agents of its parents. */
async function makeInherited(context: OpenableContext, request: ContextRequest): Promise<void> {
  const { sources, held, agentsMakeTheirs } = context;
  const above = agentsMakeTheirs ? await parentOf(sources, request) : undefined;
  if (above === undefined) {
    const { context: factory } = sources.services;
    if (factory !== undefined) held.push(await made(factory, request));
    return;
  }
  await makeInherited(context, above.request);
  await makeOwn(above.agent, held, above.request);
}

async function makeOwn(agent: Agent<unknown>, held: HeldContext[], request: ContextRequest): Promise<void> {
  const own = agent.context as ((request: ContextRequest & { readonly inherited: unknown }) => unknown) | undefined;
  if (own === undefined) return;
  const inherited = held.at(-1)?.value;
  const context = await made((asked) => own({ ...asked, inherited }), request);
  // A factory may return the inherited context itself, which is disposed of once.
  if (context.value !== inherited || held.length === 0) held.push(context);
}

/** Returns the run that started this one, with its agent. `undefined` for a run that is no child. */
async function parentOf(
  { services, find }: ContextSources,
  { parent, signal }: ContextRequest,
): Promise<{ readonly agent: Agent<unknown>; readonly request: ContextRequest } | undefined> {
  if (parent?.session === undefined) return undefined;
  const { run } = await foldSession(services.log, services.blobs, parent.session);
  const agent = run?.id === parent.runId ? find(run.agent) : undefined;
  return run && agent && { agent, request: requestFor(agent, parent.session, run, signal) };
}

async function made(factory: ContextFactory<unknown>, request: ContextRequest): Promise<HeldContext> {
  try {
    return new HeldContext(await factory(request));
  } catch (error) {
    if (error instanceof KeelsonError) throw error;
    throw new AgentError(
      {
        kind: "panic",
        callback: "context",
        message: `The context of agent "${request.agent}" could not be made: ${describeThrown(error)}`,
      },
      { cause: error },
    );
  }
}

/** Before the end or the wait of a run is reported. */
export const closeToolContextStep: Step = {
  name: "the end of the context of tools",
  applies: ({ parts }) => (parts.get(TOOL_CONTEXT)?.held.length ?? 0) > 0,
  run: closeToolContext,
};

/** Disposes of what the run made, in reverse order, when this process ends its work on the run. */
export async function closeToolContext({ parts, execution }: Loop): Promise<void> {
  const context = parts.get(TOOL_CONTEXT);
  if (context === undefined || !isOpenable(context)) return;
  delete context.value;
  for (let held = context.held.pop(); held !== undefined; held = context.held.pop()) {
    try {
      await held.release();
    } catch (error) {
      const status = `The context of the run's tools could not be disposed of: ${describeThrown(error)}`;
      execution.emit({ type: "status", status, level: "warn" });
    }
  }
}

/** Returns the context that children of the run inherit in this process. */
export function inheritedContextOf({ parts }: Loop): HeldContext | undefined {
  const context = parts.get(TOOL_CONTEXT);
  return context !== undefined && isOpenable(context) ? context.held.at(-1) : undefined;
}
