import { AgentError, type RunId, type SessionId } from "@keelson/protocol";
import type { Journal } from "../../session/journal.ts";
import { checkSessionId } from "../../session/session-id.ts";
import { sessionModel } from "../../session/session-model.ts";
import type { Agent } from "../definition/agent.ts";
import { withBudgets } from "../definition/budget/check-budgets.ts";
import { limitsOf } from "../definition/limits.ts";
import { createModelSource, modelName, modelsOf } from "../definition/model-source.ts";
import { narrowAuthority } from "../definition/permissions/narrow-authority.ts";
import type { RunInput, RunOptions, RunOrigin } from "../definition/run.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import { ActiveRun } from "./active-run.ts";
import { beginRun } from "./begin-run.ts";
import { checkImages, shownTo } from "./check-images.ts";
import { authorityOf } from "./create-loop.ts";
import { openJournal } from "./open-journal.ts";
import type { RunnerInternals } from "./runner-internals.ts";

/** Begins a run. What it must not begin with is thrown here; what its session stands against, its outcome tells. */
export function startRun(
  runner: RunnerInternals,
  agent: Agent<unknown>,
  input: RunInput,
  options: RunOptions,
  origin: RunOrigin,
): ActiveRun<unknown> {
  const { services } = runner;
  const session = (options.session ?? services.newId()) as SessionId;
  checkSessionId(session, { child: origin.parent !== undefined });
  const id = origin.id ?? (`r_${services.newId()}` as RunId);
  if (options.model !== undefined) createModelSource([agent.options.model], services.models).resolve(options.model);
  // What a parent passes on was looked at where it came in.
  if (origin.parent === undefined) checkImages("input", input, shownTo(agent, services, options.model));
  const own = authorityOf(agent, services, origin.authority, options.permissionMode);
  const unbudgeted = origin.allowedTools === undefined ? own : narrowAuthority(own, { allowedTools: origin.allowedTools });
  const limits = limitsOf(agent.options.limits, options.limits, unbudgeted);
  const authority = withBudgets(unbudgeted, { id, limits, shared: services.budgets, given: options.budgets });
  const deadline = earlier(options.deadline, authority.deadline);
  let chosen: ChosenModel = { model: options.model ?? modelName(agent.options.model) };
  return new ActiveRun<unknown>({
    runner,
    moments: runner.moments,
    agent,
    id,
    session,
    authority,
    limits,
    ...(deadline !== undefined && { deadline }),
    ...(options.signal && { signal: options.signal }),
    ...(origin.parent && { parent: origin.parent }),
    ...(origin.turns !== undefined && { turns: origin.turns }),
    ...(origin.inheritedContext && { inheritedContext: origin.inheritedContext }),
    ...(origin.onLifecycleEvent && { onLifecycleEvent: (event) => origin.onLifecycleEvent?.(event) }),
    open: (watcher) => openJournal(services, session, watcher),
    prepare: async (journal) => {
      if (options.model === undefined) chosen = await modelFor(journal, agent, services);
    },
    begin: async (journal, loop) => {
      const { model, missing } = chosen;
      await beginRun(journal, {
        id,
        agent,
        model,
        input,
        options: deadline === undefined ? options : { ...options, deadline },
        origin,
        limits,
        authority,
        ...(authority.budgets && { ledger: services.ledger.id }),
      });
      if (missing !== undefined) loop.execution.emit({ type: "status", status: missing, level: "warn" });
    },
  });
}

interface ChosenModel {
  readonly model: string;
  /** Why it is not the one that was set for the session. */
  readonly missing?: string;
}

/** The model of a run that names none: the one that was set for the session, where this runner has it, else the agent's own. */
async function modelFor(journal: Journal, agent: Agent<unknown>, services: RunnerServices): Promise<ChosenModel> {
  const own = modelName(agent.options.model);
  const model = sessionModel(journal.state, agent.name, await journal.readInbox());
  if (model === undefined) return { model: own };
  try {
    modelsOf(agent, services.models).resolve(model);
    return { model };
  } catch (error) {
    if (!AgentError.is(error, "model")) throw error;
    return { model: own, missing: `The model that was set for this session is not to be had, so ${own} is asked: ${error.message}` };
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}
