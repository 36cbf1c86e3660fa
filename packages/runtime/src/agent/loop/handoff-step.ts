import { runOf } from "../turn/loop.ts";
import type { Step } from "../turn/moments.ts";
import { RunEnding } from "../turn/run-ending.ts";

/** Ends a run that has handed its task on. */
export const handoffStep: Step = {
  name: "handoff",
  applies: (loop) => runOf(loop).handedOff === true,
  async run() {
    throw new RunEnding("handed-off");
  },
};
