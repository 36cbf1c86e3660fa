import { runOf } from "../turn/loop.ts";
import type { Step } from "../turn/moments.ts";
import { checkEnding, RunEnding, timeoutEnding } from "../turn/run-ending.ts";
import { noProgressEnding } from "./no-progress-ending.ts";

/** Ends a run that may have no further turn. */
export const limitsStep: Step = {
  name: "limits",
  async run(loop) {
    checkEnding(loop);
    const { limits, execution } = loop;
    const run = runOf(loop);
    const { at } = execution.journal.state;
    if (execution.deadline !== undefined && at > execution.deadline) throw timeoutEnding(loop, at);
    if (limits.maxDurationMs !== undefined && at - run.startedAt > limits.maxDurationMs) throw timeoutEnding(loop, at);
    if (run.failedTurns >= limits.maxFailedTurns) throw noProgressEnding(loop);
    const { turns } = run.totals;
    if (turns >= limits.maxTurns) throw new RunEnding("max-turns", { limit: { name: "maxTurns", limit: limits.maxTurns, used: turns } });
  },
};
