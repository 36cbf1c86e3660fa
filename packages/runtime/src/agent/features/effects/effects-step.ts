import { runOf } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";
import { carryOutEffects } from "./carry-out.ts";
import { effectsOfRun } from "./run-effects.ts";

/** A run that failed or was aborted did not get to what its effects were for; one that crashes again and again must not crash in them. */
const WITHOUT_EFFECTS: ReadonlySet<string> = new Set(["error", "aborted", "circuit-breaker"]);

/** Between a run's result and its terminal event: what it declared is executed. */
export const effectsStep: Step = {
  name: "effects",
  applies(loop) {
    const { outbox, ending } = runOf(loop);
    if (outbox === undefined || outbox.open.size === 0 || effectsOfRun(loop).executor === undefined) return false;
    return ending === undefined || !(ending.failure || WITHOUT_EFFECTS.has(ending.reason));
  },
  run: carryOutEffects,
};
