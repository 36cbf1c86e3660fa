import type { BlobStore, BudgetLedger, EffectExecutor, EventLog, Orchestrator } from "@keelson/protocol";
import { createRunnerWith, type Agent, type Agents, type ApprovalKeys, type Runner, type RunnerServices } from "../../agent/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { randomId } from "../../json/random-id.ts";
import { processOwner } from "../../platform/process-owner.ts";
import type { EngineScenario } from "./engine-scenario.ts";
import { ENGINE_SCENARIOS } from "./engine-scenarios.ts";
import { scenarioClock } from "./scenario-clock.ts";
import { createScenarioKit } from "./scenario-kit.ts";
import { countCall } from "./tool-counters.ts";

/** What all processes of an engine share while it works scenarios. */
export interface ScenarioServices {
  readonly log: EventLog;
  /** Default: those of the log. */
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  /** Where the tools of scenarios leave what they did, and time what passed: a directory that all processes see. */
  readonly directory: string;
  /** Default: the same in every process. */
  readonly approvalKeys?: ApprovalKeys;
  /** Default: children work inside of their parents' turns. */
  readonly orchestrator?: Orchestrator;
  /** Default: {@link scenarioClock} of the directory. */
  readonly clock?: Clock;
}

const KEYS: ApprovalKeys = { current: { id: "scenarios", secret: new Uint8Array(32).fill(7) } };

/** Leaves a line for each effect, as tools do. */
function countingEffects(directory: string): EffectExecutor {
  return {
    supports: () => true,
    async execute(effect, { session, idempotencyKey, attempt }) {
      countCall(directory, {
        session,
        callId: effect.meta?.id ?? idempotencyKey,
        tool: effect.type,
        effect: "idempotent",
        idempotencyKey,
        attempt,
      });
      return effect.type === "directive" ? `${effect.directive.type} is done` : undefined;
    },
  };
}

/**
 * A runner with the agents of all scenarios, for any process of an engine: made anew from the same services, it goes on where
 * another stopped.
 *
 * @param options anything else that a runner takes
 * @param scenarios whose agents it has; default: all of them
 */
export function createScenarioRunner(
  services: ScenarioServices,
  options: Partial<RunnerServices> = {},
  scenarios: readonly EngineScenario[] = ENGINE_SCENARIOS,
): Runner<Agents> {
  const { directory, orchestrator, clock = scenarioClock(directory), approvalKeys = KEYS, log, blobs, ledger } = services;
  const kit = createScenarioKit(directory, () => runner);
  const agents: { [name: string]: Agent<unknown> } = {};
  for (const scenario of scenarios) {
    for (const agent of scenario.agents(kit)) {
      if (agents[agent.name] !== undefined) throw new Error(`Two agents of the scenarios for engines are called "${agent.name}".`);
      agents[agent.name] = agent;
    }
  }
  const runner: Runner<Agents> = createRunnerWith({
    owner: processOwner(),
    random: () => 0.5,
    newId: randomId,
    effects: countingEffects(directory),
    ...options,
    log,
    blobs,
    ledger,
    clock,
    approvalKeys,
    ...(orchestrator && { orchestrator }),
    agents,
  });
  return runner;
}
