import {
  AgentError,
  OrchestratorError,
  type Authority,
  type JsonObject,
  type OperatorConfig,
  type OperatorInput,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import type { Execution } from "../../../session/execution.ts";
import { foldSession } from "../../../session/fold-session.ts";
import { CHILD_MARK } from "../../../session/session-id.ts";
import type { Agent } from "../../definition/agent.ts";
import { narrowAuthority } from "../../definition/permissions/narrow-authority.ts";
import type { RunOptions, RunOrigin } from "../../definition/run.ts";
import type { LiveRun, ParentRun, RunStarter } from "../../turn/live-run.ts";
import { dispatchChild } from "./dispatch-child.ts";

/** What a run says of a child that it starts. */
export interface ChildRequest {
  readonly id: RunId;
  readonly session: SessionId;
  readonly operator: string;
  readonly input: Pick<OperatorInput, "message" | "config" | "metadata">;
  readonly authority?: Authority;
}

/** A child, ready to be begun or taken up again. */
export interface ChildPlan {
  readonly agent: Agent<unknown>;
  readonly id: RunId;
  readonly session: SessionId;
  /** Its run as it stands: over, its outcome is read; interrupted, it goes on; else it begins. */
  begin(parent: Pick<ParentRun, "leavesWaiting" | "toolContext">): Promise<LiveRun>;
}

/**
 * Its own session, log and lease; the run's authority, narrowed.
 * @throws OrchestratorError of kind `operator-not-found`; AgentError where agents are nested too deep
 */
export function planChild(runner: RunStarter, request: ChildRequest, execution: Execution): ChildPlan {
  const { id, session, operator } = request;
  const input = { ...request.input, metadata: { ...inheritedMetadata(execution), ...request.input.metadata } };
  const agent = findAgent(runner, operator);
  const { authority } = execution;
  if (authority.depth < 1)
    throw new AgentError({ kind: "other", message: `"${operator}" was not started: the limit of nested agents is reached.` });
  const { config = {}, message, metadata } = input;
  const options = optionsOf(session, config, metadata, execution.deadline);
  const origin: RunOrigin = {
    id,
    parent: { run: execution.runId, session: execution.session },
    authority: narrowAuthority(narrowAuthority(authority, request.authority ?? {}), {
      depth: authority.depth - 1,
      untrusted: execution.journal.state.untrusted,
    }),
    ...(config.allowedOperators && { allowedTools: config.allowedOperators }),
    ...(config.systemAddendum !== undefined && { systemAddendum: config.systemAddendum }),
  };
  const { log, blobs, orchestrator } = runner.services;
  return {
    agent,
    id,
    session,
    async begin({ leavesWaiting, toolContext: inheritedContext }) {
      const { run } = await foldSession(log, blobs, session);
      const isBegun = run?.id === id;
      if (orchestrator !== undefined && (!isBegun || (orchestrator.wake !== undefined && run.status !== "ended")))
        return dispatchChild(runner, orchestrator, {
          isAtWork: isBegun && run.turn > 0,
          id,
          session,
          operator,
          input,
          origin,
          deadline: execution.deadline,
        });
      return isBegun
        ? runner.resume(session, { leavesWaiting, inheritedContext })
        : runner.start(agent, message, options, { ...origin, inheritedContext });
    },
  };
}

/** Returns the metadata of the run, less the arguments of the call that started it. A child begins with them. */
function inheritedMetadata({ journal }: Execution): JsonObject {
  const { input: _ofItsCall, ...metadata } = journal.state.run?.metadata ?? {};
  return metadata;
}

/** @throws OrchestratorError of kind `operator-not-found` that names what there is */
export function findAgent(runner: RunStarter, name: string): Agent<unknown> {
  const agent = runner.find(name);
  if (agent) return agent;
  const available = runner.names();
  throw new OrchestratorError({
    kind: "operator-not-found",
    operator: name,
    available,
    message: `There is no agent "${name}" to start as a child; the runner has ${available.join(", ")}.`,
  });
}

/**
 * Derived from the place in the run where the child is started: the same place is the same child.
 * @param session goes on in this one, instead of one of its own
 */
export function childIds(
  execution: Pick<Execution, "runId" | "session">,
  place: string,
  operator: string,
  session?: SessionId,
): { readonly id: RunId; readonly session: SessionId } {
  const own = session ?? (`${execution.session}${CHILD_MARK}${shortHash(`${execution.runId}/${place}`, 12)}` as SessionId);
  // Several runs of one agent in one session are told apart by their places.
  return { session: own, id: `r_${shortHash(session === undefined ? `${own}/${operator}` : `${own}/${operator}/${place}`)}` as RunId };
}

function optionsOf(
  session: SessionId,
  { maxTurns, maxCost, maxDurationMs, model }: OperatorConfig,
  metadata: RunOptions["metadata"],
  deadline: number | undefined,
): RunOptions {
  return {
    session,
    ...(metadata && { metadata }),
    ...(model !== undefined && { model }),
    ...(deadline !== undefined && { deadline }),
    limits: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxCost !== undefined && { maxCost }),
      ...(maxDurationMs !== undefined && { maxDurationMs }),
    },
  };
}
