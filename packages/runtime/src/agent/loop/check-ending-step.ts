import type { Step } from "../turn/moments.ts";
import { checkEnding } from "../turn/run-ending.ts";

/** Ends a run that was told to end: abort, deadline, or a graceful stop. */
export const checkEndingStep: Step = {
  name: "stop and abort",
  run: async (loop) => checkEnding(loop),
};
