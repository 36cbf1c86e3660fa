import { invalidOption } from "../definition/invalid-option.ts";
import type { Run, RunOutcome } from "../definition/run.ts";

/** What is told when the run is over. `error` and `waits` are left alone: loggers look for the former on whatever they are given. */
const OF_THE_OUTCOME: readonly (keyof RunOutcome)[] = ["reason", "text", "output", "turns", "usage", "cost", "effects"];

/**
 * A run is no promise: `await run` gives the run itself. Who then reads the outcome off it is told where it is, instead of finding
 * `undefined`; printed, a run shows what it is and not what it is made of.
 */
export function guideToOutcome(prototype: Run): void {
  for (const name of OF_THE_OUTCOME)
    Object.defineProperty(prototype, name, {
      configurable: true,
      get() {
        throw invalidOption(name, `is told by the outcome of a run, not by the run: const { ${name} } = await run.outcome`);
      },
    });
  Object.defineProperty(prototype, "toJSON", { configurable: true, value: whoItIs });
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    configurable: true,
    value(this: Run) {
      return `Run ${this.id} in session ${this.session} (await run.outcome tells how it ends; for await (const event of run) shows what it does)`;
    },
  });
}

function whoItIs(this: Run): Pick<Run, "id" | "session"> {
  return { id: this.id, session: this.session };
}
