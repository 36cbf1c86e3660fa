import { LogError, toEnvironmentError } from "@keelson/protocol";

/** What `Environment.run` rejects with: an `EnvironmentError`, but for what is meant for whoever drives the run. */
export function atEnvironmentBoundary(error: unknown): unknown {
  // The run waits, or its log is lost: neither is a failure of what the environment ran.
  return LogError.is(error) || (error instanceof Error && error.name === "Suspension") ? error : toEnvironmentError(error);
}
