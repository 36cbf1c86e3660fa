import type { BlobStore, BudgetLedger, EffectExecutor, EventLog, Orchestrator, Provider, Tool } from "@keelson/protocol";
import type { Agent } from "../../agent/definition/agent.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { chaosFaults } from "./chaos-faults.ts";
import { Disturbance } from "./disturbance.ts";
import type { ChaosFault } from "./fault.ts";
import { parsePlan } from "./parse-plan.ts";
import { randomNumbers } from "./random-numbers.ts";
import { countSteps, type ChaosStep } from "./step.ts";

export interface DisturbanceOptions {
  /** What befalls the process, as reports of `chaos` name it: "crash after append#7". Default: nothing, and steps are counted. */
  readonly plan?: string | undefined;
  /** The faults that the plan may name. Default: all of `chaosFaults`. */
  readonly faults?: readonly ChaosFault[] | undefined;
  /** Decides what is left to chance. Default 1. */
  readonly seed?: number | undefined;
  /** What faults wait by. Default: the time of day. */
  readonly clock?: Clock | undefined;
  /**
   * What ends the process where a fault has it crash: `() => process.kill(process.pid, "SIGKILL")` in one that may die. Default: nothing
   * that passes this disturbance goes on any more; see `stopped`.
   */
  readonly die?: (() => void) | undefined;
}

/** One process among faults, whatever its engine: its stores, models, tools and calls are what this makes of those it is given. */
export interface ProcessDisturbance {
  readonly steps: readonly ChaosStep[];
  /** What went wrong that nobody else noticed. */
  readonly problems: readonly string[];
  /** Resolves where a fault has the process crash or stand still. Whoever waits for its work waits for this, too. */
  readonly stopped: Promise<void>;
  /** A process that stands still goes on. */
  thaw(): void;
  /** Does what a fault put off. */
  catchUp(): Promise<void>;
  log(log: EventLog): EventLog;
  blobs(blobs: BlobStore): BlobStore;
  ledger(ledger: BudgetLedger): BudgetLedger;
  provider(provider: Provider): Provider;
  tool(tool: Tool): Tool;
  /** The agent with its models and tools, and those of the agents below it. */
  agent<Out>(agent: Agent<Out>): Agent<Out>;
  effects(effects: EffectExecutor): EffectExecutor;
  orchestrator<O extends Orchestrator>(orchestrator: O): O;
  /** A clock that somebody may set. */
  clock(clock: Clock): Clock;
  /** A call of the runner that an engine makes. */
  deliver<T>(about: string, act: () => Promise<T>): Promise<T>;
}

/**
 * Puts the faults of the chaos kit around the parts of one process, for tests that bring their own engine, database or processes.
 *
 * ```ts
 * const disturbance = createDisturbance({ plan: "lost acknowledgement of append#3" });
 * const runner = createRunner({ agent: disturbance.agent(agent), log: disturbance.log(log) });
 * ```
 */
export function createDisturbance(options: DisturbanceOptions = {}): ProcessDisturbance {
  checkOptionNames("createDisturbance", options, { plan: true, faults: true, seed: true, clock: true, die: true });
  const { plan, faults = Object.values(chaosFaults), seed = 1, clock = systemClock, die } = options;
  const steps = countSteps();
  const problems: string[] = [];
  const later: (() => Promise<unknown>)[] = [];
  let offsetMs = 0;
  const disturbance = new Disturbance({
    process: 1,
    plan: plan === undefined ? [] : parsePlan(plan, faults, "plan"),
    steps,
    mayFreeze: () => true,
    ...(die && { died: die }),
    hand: {
      sleep: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
      jump(ms) {
        offsetMs += ms;
      },
      later: (act) => void later.push(act),
      report: (problem) => void problems.push(problem),
      random: randomNumbers(`${seed} ${plan ?? ""}`),
    },
  });
  return {
    steps: steps.taken,
    problems,
    stopped: disturbance.stopped,
    thaw: () => disturbance.thaw(),
    async catchUp() {
      for (const act of later.splice(0)) await act();
    },
    log: (log) => disturbance.log(log),
    blobs: (blobs) => disturbance.blobs(blobs),
    ledger: (ledger) => disturbance.ledger(ledger),
    provider: (provider) => disturbance.provider(provider),
    tool: (tool) => disturbance.tool(tool),
    agent: (agent) => disturbance.agent(agent),
    effects: (effects) => disturbance.effects(effects),
    orchestrator: (orchestrator) => disturbance.orchestrator(orchestrator),
    clock: (given) => ({ now: () => given.now() + offsetMs, after: (ms, run, timer) => given.after(ms, run, timer) }),
    deliver: (about, act) => disturbance.pass("deliver", about, act),
  };
}
