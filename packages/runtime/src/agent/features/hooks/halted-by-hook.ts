import { AgentError } from "@keelson/protocol";
import { RunEnding } from "../../turn/run-ending.ts";

/** The way a run ends that a hook aborted. */
export function haltedBy({ reason }: { readonly reason: string }): RunEnding {
  return new RunEnding("halted", { halted: { by: "hook", reason } });
}

/** What a hook ended the run with while a child was about to be started, also where somebody wrapped it. */
export function endingByHook(error: unknown): RunEnding | AgentError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof RunEnding || AgentError.is(at, "panic")) return at;
  return undefined;
}
