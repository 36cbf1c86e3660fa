import type { RunId } from "@keelson/protocol";
import type { CallbackPlan } from "./features.ts";
import { never, type SimulatedProcess } from "./simulated-process.ts";
import type { Place, Witness } from "./witness.ts";

/** Where callbacks act: the process that they live in, and who sees them. */
export interface Stage {
  readonly process: SimulatedProcess;
  readonly witness: Witness;
}

const SLOW_MS = 2_000;

/**
 * A callback that decides something, as planned. The process may die before it acts, and before its verdict arrives.
 * @param decide told whether the time of the plan has come
 * @param options.at where its verdict is kept; default: in the decision that asks it
 */
export function actWith<T>(
  stage: Stage,
  name: string,
  plan: CallbackPlan,
  decide: (late: boolean) => T,
  options: { readonly at?: Place } | { readonly anywhere: true } = {},
): T | Promise<T> {
  return act(stage, name, plan, decide, () => {
    if (!("anywhere" in options)) stage.witness.asked(name, options.at);
  });
}

/** A callback that looks on. @param about once told in a stretch of work, it is not told again */
export function lookOn(
  stage: Stage,
  name: string,
  plan: CallbackPlan,
  about: { readonly runId: RunId; readonly about: string } | undefined,
): undefined | Promise<undefined> {
  return act(
    stage,
    name,
    plan,
    () => undefined,
    () => {
      if (about) stage.witness.told(name, about.runId, about.about);
    },
  );
}

function act<T>(
  { process, witness }: Stage,
  name: string,
  plan: CallbackPlan,
  decide: (late: boolean) => T,
  see: () => void,
): T | Promise<T> {
  const stopped = process.pass();
  if (stopped) return stopped;
  see();
  const count = witness.count(name);
  const late = count >= plan.from;
  const later = async (): Promise<T> => {
    await process.pass();
    return decide(late);
  };
  if (plan.conduct === "sync") return decide(late);
  if (!late) return later();
  switch (plan.conduct) {
    case "async":
      return later();
    case "slow":
      return process.clock.sleep(SLOW_MS).then(later);
    case "throw":
      throw new Error(`${name} failed`);
    case "reject":
      return Promise.reject(new Error(`${name} failed later`));
    case "nonsense": {
      const nonsense = { type: "perhaps", huge: 10n } as T;
      return count % 2 === 0 ? nonsense : Promise.resolve(nonsense);
    }
    case "hang":
      return never();
  }
}
