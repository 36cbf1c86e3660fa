import { RunEnding } from "../loop/run-ending.ts";

/** The way a run ends that a hook aborted. */
export function haltedBy({ reason }: { readonly reason: string }): RunEnding {
  return new RunEnding("halted", { halted: { by: "hook", reason } });
}
