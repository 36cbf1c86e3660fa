import { beforeFirstTurn } from "../features/hooks/session-hooks.ts";
import { processInput } from "../features/middleware/process-input.ts";
import { beginPlugins } from "../features/plugins/call-plugins.ts";
import type { Loop } from "../turn/loop.ts";

/** One thing that is done at the border of a run. Nothing where it does not apply, so that it costs nothing there. */
export type Stage = (loop: Loop) => Promise<void> | undefined;

/** What comes before the first turn, in this order. */
const STAGES: readonly Stage[] = [beforeFirstTurn, processInput, beginPlugins];

/**
 * Done before the first turn of a run. Whatever a stage decides is a recorded decision, so that it may be begun again after
 * a crash; one that throws a `RunEnding` ends the run before the model is asked.
 */
export async function runPrologue(loop: Loop): Promise<void> {
  for (const stage of STAGES) {
    const working = stage(loop);
    if (working !== undefined) await working;
  }
}
