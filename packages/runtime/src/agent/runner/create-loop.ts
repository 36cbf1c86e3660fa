import type { Authority, PermissionMode } from "@keelson/protocol";
import { Context } from "../../context/context.ts";
import type { Execution } from "../../session/execution.ts";
import type { Agent } from "../definition/agent.ts";
import { permissionPolicy } from "../definition/permissions/permission-policy.ts";
import { bindBudgets } from "../features/budget/bind-budgets.ts";
import { bindApprovals, type AskingPlace } from "../features/approvals/run-approvals.ts";
import { bindBackground, type Background } from "../features/children/background.ts";
import { bindEnvironment } from "../features/environment/run-environment.ts";
import { bindToolContext, type ToolContextOrigin } from "../features/tool-context/run-tool-context.ts";
import type { EventHub } from "../turn/events/event-hub.ts";
import { startedIn } from "../features/environment/started-in.ts";
import { bindToolSources } from "../features/tool-sources/run-sources.ts";
import { turnToolsOf } from "../features/tool-sources/turn-tools.ts";
import { bindHooks } from "../features/hooks/loop-hooks.ts";
import { AttemptSignal } from "../turn/attempt-signal.ts";
import { callPrefixOf } from "../turn/call-id.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import type { Limits } from "../definition/limits.ts";
import { modelsOf } from "../definition/model-source.ts";
import { bindPartials, type PartialOutputs } from "../features/output/partial-outputs.ts";
import { narrowAuthority } from "../definition/permissions/narrow-authority.ts";
import { bindPlugins } from "../features/plugins/loop-plugins.ts";
import { RunBinding } from "../turn/run-binding.ts";
import { bindConstraint } from "../features/strategies/constraint.ts";
import { planRequest } from "../loop/plan-request.ts";
import { readInbox } from "../loop/read-inbox.ts";
import { requestSettings } from "../loop/request-settings.ts";
import { oneAtATime } from "../loop/one-at-a-time.ts";
import { RunParts } from "../turn/run-parts.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import { MOMENTS } from "../loop/moments.ts";
import { bindMoments, type Moments } from "../turn/moments.ts";
import { bindPolicies, currentPermissionMode } from "../features/permissions/run-policies.ts";
import { bindSignals } from "../features/signals/run-signals.ts";
import { bindEffects } from "../features/effects/run-effects.ts";
import { bindOutput } from "../features/output/run-output.ts";

const DEFAULT_MAX_DEPTH = 8;

/**
 * Returns the authority of an agent where it is started: the one that it was given, less the rights that its own definition takes away.
 * @param mode the permission mode of its own policy, instead of the one in its definition
 */
export function authorityOf(
  agent: Agent<unknown>,
  services: Pick<RunnerServices, "maxDepth">,
  given?: Authority,
  mode?: PermissionMode,
): Authority {
  const { allowedTools, sandbox } = agent.options;
  const permissions = mode === undefined ? agent.options.permissions : { ...agent.options.permissions, mode };
  const own = permissionPolicy({ ...agent.options, permissions });
  const sandboxes = sandbox?.enabled === true ? [sandbox] : undefined;
  if (given === undefined)
    return narrowAuthority({ policies: [], depth: services.maxDepth ?? DEFAULT_MAX_DEPTH }, { policies: [own], allowedTools, sandboxes });
  // Whoever starts a run without any policy restricts it by other means only: the agent's own is then the root.
  if (given.policies.length === 0) return narrowAuthority(given, { policies: [own], allowedTools, sandboxes });
  // A child that names no mode has its parent's: only what it says itself takes something away.
  return narrowAuthority(given, { ...(permissions && { policy: permissions }), allowedTools, sandboxes });
}

export interface LoopParts {
  readonly services: RunnerServices;
  readonly agent: Agent<unknown>;
  readonly execution: Execution;
  readonly limits: Limits;
  readonly hub: EventHub;
  readonly approvals: AskingPlace;
  /** Bound to the run. Default: one with the agent's rules. */
  readonly context?: Context;
  readonly partials?: PartialOutputs;
  readonly debug?: (message: string) => void;
  readonly statedReason?: () => string | undefined;
  /** Default: nothing works beside the turns. */
  readonly background?: Background;
  /** Default: its tools find none. */
  readonly toolContext?: ToolContextOrigin | undefined;
  /** Default: those of every run. */
  readonly moments?: Moments | undefined;
}

/** Binds an agent to one run of it. */
export function createLoop({
  services,
  agent,
  execution,
  limits,
  hub,
  approvals,
  context: given,
  debug,
  partials,
  background,
  statedReason,
  toolContext,
  moments = MOMENTS,
}: LoopParts): Loop {
  const { journal } = execution;
  const { state } = journal;
  const { cwd, env, rules } = agent.options;
  const context = given ?? new Context({ conversation: state.conversation, ...(rules && { rules }) });
  const { files, state: reader, secrets } = services;
  context.bind(
    new RunBinding(execution, {
      planned: () => planRequest(loop),
      async compact(key, strategy) {
        const { compactForContext } = await import("../loop/compaction/compact-for-context.ts");
        return compactForContext(loop, key, strategy);
      },
      state: reader,
      permissionMode: () => currentPermissionMode(loop),
    }),
  );
  const exec = services.exec && (env || cwd !== undefined) ? startedIn(services.exec, { cwd, env }) : services.exec;
  const loop: Loop = {
    agent,
    get tools() {
      return turnToolsOf(loop).tools;
    },
    get schemas() {
      return turnToolsOf(loop).schemas;
    },
    limits,
    get settings() {
      return requestSettings(agent, runOf(loop).effort);
    },
    context,
    execution,
    callPrefix: callPrefixOf(execution.runId),
    models: modelsOf(agent, services.models),
    get authority() {
      return execution.authority;
    },
    blobs: services.blobs,
    toolServices: { ...(files && { files }), ...(exec && { exec }), ...(reader && { state: reader }), ...(secrets && { secrets }) },
    cut: undefined,
    attempts: new AttemptSignal(execution.signal),
    random: () => services.random(),
    hub,
    debug,
    ...(statedReason && { statedReason }),
    parts: new RunParts(),
    readInbox: oneAtATime(() => readInbox(loop)),
  };
  bindMoments(loop, moments);
  bindPolicies(loop);
  bindEnvironment(loop, services);
  bindToolContext(loop, toolContext);
  bindToolSources(loop, services.mcp);
  bindConstraint(loop);
  bindSignals(loop, services.signalWaitMs);
  bindEffects(loop, services);
  bindOutput(loop);
  bindBudgets(loop, services);
  bindHooks(loop);
  bindPlugins(loop);
  bindApprovals(loop, services, approvals);
  if (partials !== undefined) bindPartials(loop, partials);
  if (background !== undefined) bindBackground(loop, background);
  return loop;
}
