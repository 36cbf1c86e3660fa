import { effectsStage } from "../features/effects/effects-stage.ts";
import { sessionEndStage } from "../features/hooks/session-hooks.ts";
import { pluginsStage } from "../features/plugins/call-plugins.ts";
import { endsProcesses } from "../turn/ends-processes.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import type { Stage } from "./prologue.ts";

/** What comes between a run's result and its terminal event, in this order. Each says first whether it has anything to do. */
const STAGES: readonly { applies(loop: Loop): boolean; readonly run: Stage }[] = [
  effectsStage,
  pluginsStage,
  // What the stages in between declared.
  effectsStage,
  sessionEndStage,
];

/** Not where the way the run ends was known, and its process ended in what follows again and again. */
export function hasEpilogue(loop: Loop): boolean {
  const run = runOf(loop);
  return (run.ending === undefined || !endsProcesses(run)) && STAGES.some(({ applies }) => applies(loop));
}

/** Done once the way a run ends is on disk: a crash in between finds the ending in the log and goes on here. Nothing in it changes how the run ends. */
export async function runEpilogue(loop: Loop): Promise<void> {
  for (const stage of STAGES) if (stage.applies(loop)) await stage.run(loop);
}
