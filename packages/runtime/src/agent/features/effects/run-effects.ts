import type { EffectExecutor } from "@keelson/protocol";
import { createFilterChain, type FilterChain } from "../../definition/effects/filter-chain.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";

/** What becomes of the effects that a run declares. */
export interface RunEffects {
  /** Carries them out; without it, they are only listed in the outcome. */
  readonly executor: EffectExecutor | undefined;
  /** Who carries out a handoff: this run, or whoever called it. */
  readonly handoffs: "caller" | "runner";
  /** What directives pass before they are declared. */
  readonly filters: FilterChain | undefined;
}

const EFFECTS = new PartKey<RunEffects>("effects");

export function effectsOfRun({ parts }: Loop): RunEffects {
  return parts.need(EFFECTS);
}

export function bindEffects({ parts, agent, execution }: Loop, { effects, handoffs = "caller" }: RunnerServices): void {
  const { directiveFilters = [] } = agent.options;
  parts.set(EFFECTS, {
    executor: effects,
    handoffs: execution.parent === undefined ? handoffs : "caller",
    filters: directiveFilters.length === 0 ? undefined : createFilterChain(directiveFilters),
  });
}
