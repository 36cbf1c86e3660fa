import type { EventLog, RunId, SessionId } from "@keelson/protocol";
import type { Agent } from "../../agent/definition/agent.ts";
import { createRunnerWith, type SingleRunner } from "../../agent/runner/runner.ts";
import type { RunnerServices } from "../../agent/turn/runner-services.ts";
import { createLocalEffectExecutor } from "../../orchestration/effects/create-local-effect-executor.ts";
import { modelsFromEnvironment } from "../../providers/models-from-environment.ts";
import type { StateStore } from "@keelson/protocol";
import { Disturbance } from "./disturbance.ts";
import { disturbedAgent } from "./disturbed-agent.ts";
import type { ChaosEngine, ChaosProcess } from "./engine.ts";
import type { FaultHand, PlannedFault } from "./fault.ts";
import type { PlayedModels } from "./recorded-models.ts";
import type { ChaosScene, ChaosServices, ChaosStores } from "./scene.ts";
import type { ChaosSteps } from "./step.ts";
import type { ProcessClock, VirtualClock } from "./virtual-clock.ts";
import type { Witness } from "./witness.ts";

export const SESSION = "chaos" as SessionId;
export const LEASE_TTL_MS = 30_000;
const RUN = "r_chaos" as RunId;
/** A snapshot is met by every process that takes up a run of some turns. */
const RECORDS_PER_SNAPSHOT = 10;
const SECRET = new Uint8Array(32).fill(7);

/** All that the processes of one run have in common. */
export interface RunWorld {
  readonly scene: ChaosScene;
  readonly engine: ChaosEngine;
  readonly stores: Required<ChaosStores>;
  readonly clock: VirtualClock;
  readonly witness: Witness;
  readonly steps: ChaosSteps;
  readonly models: PlayedModels;
  readonly plan: readonly PlannedFault[];
  readonly hand: Omit<FaultHand, "die" | "freeze" | "sleep">;
  newId(): string;
}

/** One process of a run. */
export interface StartedProcess {
  readonly number: number;
  readonly owner: string;
  readonly disturbance: Disturbance;
  readonly clock: ProcessClock;
  readonly process: ChaosProcess;
}

/** Starts a process, in which the planned faults befall what it does. Without them it is one that only looks on, and answers. */
export function startProcess(world: RunWorld, number: number, isDisturbed: boolean): StartedProcess {
  const { scene, engine, stores, clock, witness, steps, models, plan } = world;
  const own = clock.ofProcess();
  const owner = `process-${number}`;
  const disturbance = new Disturbance({
    process: number,
    plan,
    steps,
    mayFreeze: () => isDisturbed,
    hand: { ...world.hand, sleep: (ms) => new Promise((resolve) => void own.after(ms, resolve)) },
  });
  const log = witness.log(stores.log, number);
  const ledger = witness.ledger(stores.ledger, number);
  let runner: SingleRunner<unknown> | undefined;
  const made = (): SingleRunner<unknown> => {
    if (runner === undefined) throw new TypeError("an orchestrator asks for its runner when something is to be done, not before");
    return runner;
  };
  const orchestrator = engine.orchestrator?.(made);
  const services: ChaosServices = {
    log: isDisturbed ? disturbance.log(log) : log,
    blobs: isDisturbed ? disturbance.blobs(stores.blobs) : stores.blobs,
    ledger: isDisturbed ? disturbance.ledger(ledger) : ledger,
    clock: own,
    owner,
    leaseTtlMs: LEASE_TTL_MS,
    recordsPerSnapshot: RECORDS_PER_SNAPSHOT,
    approvalKeys: { current: { id: "chaos", secret: SECRET } },
    random: () => world.hand.random(),
    newId: () => world.newId(),
    ...(orchestrator && { orchestrator: isDisturbed ? disturbance.orchestrator(orchestrator) : orchestrator }),
  };
  const disturbed = <Out>(agent: Agent<Out>): Agent<Out> =>
    disturbedAgent(agent, {
      provider: (provider) => disturbance.provider(witness.provider(models.provider(provider))),
      tool: (tool) => disturbance.tool(witness.tool(tool, number)),
    });
  runner = runnerOf(scene, services, disturbed, disturbance);
  return {
    number,
    owner,
    disturbance,
    clock: own,
    process: {
      runner,
      services,
      session: SESSION,
      input: scene.input,
      runId: RUN,
      deliver: (about, act) => disturbance.pass("deliver", about, act),
    },
  };
}

function runnerOf(
  scene: ChaosScene,
  services: ChaosServices,
  disturbed: <Out>(agent: Agent<Out>) => Agent<Out>,
  disturbance: Disturbance,
): SingleRunner<unknown> {
  if (scene.runner !== undefined) return scene.runner(services, disturbed) as SingleRunner<unknown>;
  if (scene.agent === undefined) throw new TypeError("a scene needs an `agent`, or a function `runner` that makes one");
  const { state } = scene.services ?? {};
  const runner: SingleRunner<unknown> = createRunnerWith({
    models: modelsFromEnvironment(),
    ...scene.services,
    ...services,
    effects: disturbance.effects(
      scene.services?.effects ??
        createLocalEffectExecutor({
          clock: services.clock,
          blobs: services.blobs,
          runner: () => runner,
          ...(isStateStore(state) && { store: state }),
        }),
    ),
    agent: disturbed(scene.agent as Agent<unknown>),
  } as RunnerServices & { readonly agent: Agent<unknown> });
  return runner;
}

function isStateStore(state: RunnerServices["state"]): state is StateStore {
  return typeof (state as Partial<StateStore> | undefined)?.write === "function";
}

/** Logs with the head of each. */
export async function headsOf(log: EventLog): Promise<ReadonlyMap<string, number>> {
  return new Map((await log.list({ prefix: "session/" })).map((info) => [info.log, info.head]));
}
