import type { BlobStore, BudgetLedger, Environment, EventLog, Orchestrator } from "@keelson/protocol";
import { OutsideReached, type Outside } from "../../../session/outside-reached.ts";
import { MOMENTS } from "../../loop/moments.ts";
import { runOf } from "../../turn/loop.ts";
import type { Moments, Step } from "../../turn/moments.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { createInternals } from "../create-internals.ts";
import type { RunnerInternals } from "../runner-internals.ts";

/** What is not of the log, and a rehearsal came to. */
export interface Reached {
  /** Where it ended. */
  readonly at: string[];
  /** What it went on behind, as if it had let the run go on. */
  readonly passed: string[];
}

/** A runner with the same agents that works on other stores, and stops wherever something else than those would be reached. */
export function rehearsalRunner(
  { services, moments = MOMENTS, find, names }: RunnerInternals,
  stores: { readonly log: EventLog; readonly blobs: BlobStore },
  reached: Reached,
): RunnerInternals {
  const outside: Outside = (what) => {
    reached.at.push(what);
    return new OutsideReached(what);
  };
  return createInternals({
    services: rehearsalServices(services, stores, reached),
    moments: rehearsalMoments(moments, reached),
    find,
    names,
    outside,
  });
}

function rehearsalServices(services: RunnerServices, stores: Pick<RunnerServices, "log" | "blobs">, { at }: Reached): RunnerServices {
  const { ledger, environment, orchestrator, openDebugFile: _noFile, onLifecycleEvent: _nobodyIsTold, approvals, ...others } = services;
  return {
    ...others,
    ...stores,
    ledger: untouchedLedger(ledger),
    ...(environment && { environment: unopenedEnvironment(environment) }),
    ...(orchestrator && { orchestrator: idleOrchestrator(orchestrator) }),
    ...(approvals && { approvals: async ({ operation }) => void at.push(`the answer of the approvals callback to ${operation}`) }),
    signalWaitMs: 0,
    recordsPerSnapshot: Number.POSITIVE_INFINITY,
  };
}

/** Tells what was spent, and has room for whatever is asked for: what a budget refuses by then, a deployment doesn't change. */
function untouchedLedger(ledger: BudgetLedger): BudgetLedger {
  return {
    id: ledger.id,
    reserve: async () => ({ type: "reserved" }),
    settle: async () => {},
    release: async () => {},
    retire: async () => {},
    spent: (scope) => ledger.spent(scope),
    used: (scope) => ledger.used(scope),
    changed: async () => {},
  };
}

/** Where there is none that could be opened, a run that needs one is refused as it would be. */
function unopenedEnvironment(environment: Environment): Environment {
  if (environment.open === undefined) return environment;
  return {
    run: (input, spec, context) => environment.run(input, spec, context),
    open: async () => ({ [Symbol.asyncDispose]: async () => {} }),
  };
}

/** Nothing is started on it: a rehearsal ends before that. */
function idleOrchestrator({ wake }: Orchestrator): Orchestrator {
  const nothing = (): Promise<never> => Promise.reject(new OutsideReached("the orchestrator"));
  const idle = async (): Promise<void> => {};
  return {
    start: nothing,
    attach: nothing,
    dispatch: nothing,
    dispatchMany: nothing,
    query: nothing,
    signal: idle,
    cancel: idle,
    ...(wake && { wake: idle }),
  };
}

/** Code of the user that would be asked what is to become of the run counts as if it let it go on: behind it may stand what can't. */
function rehearsalMoments(moments: Moments, reached: Reached): Moments {
  const { onResume, beforeTurn, gates } = moments;
  const passed = (step: Step): Step => ({
    ...step,
    run: (loop, place) => unlessOutside(reached, () => step.run(loop, place), undefined),
  });
  return {
    ...moments,
    onResume: onResume.map(passed),
    // Only where calls stand behind it, and not the model.
    beforeTurn: beforeTurn.map((step) => ({
      ...step,
      run: (loop, place) => (runOf(loop).responded ? passed(step) : step).run(loop, place),
    })),
    gates: gates.map((gate) => ({ ...gate, pass: (loop, call) => unlessOutside(reached, () => gate.pass(loop, call), call) })),
  };
}

async function unlessOutside<T>(reached: Reached, act: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof OutsideReached)) throw error;
    reached.at.splice(reached.at.lastIndexOf(error.what), 1);
    reached.passed.push(error.what);
    return otherwise;
  }
}
