import { sessionLog } from "@keelson/protocol";
import type { ChaosEngine } from "./engine.ts";

const LEFT: ReadonlySet<string> = new Set(["session", "backend", "detached"]);

/** Each process takes up the whole run: `run()`, then `resume()`. */
export function resumeEngine(): ChaosEngine {
  return {
    async work({ runner, services, session, input, deliver }) {
      const isNew = (await services.log.head(sessionLog(session))) === 0;
      const outcome = isNew
        ? await runner.run(input, { session }).outcome
        : await deliver(`resume of ${session}`, async () => (await runner.resume(session)).outcome);
      // Its end, if it has one, is in the log: this process left it where it was.
      if (outcome.error !== undefined && LEFT.has(outcome.error.failure.kind)) throw outcome.error;
    },
  };
}
