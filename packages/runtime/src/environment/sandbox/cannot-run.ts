import { EnvironmentError } from "@keelson/protocol";

/** Returns the error for a command that did not start because no sandbox can be made for it. */
export function cannotRun(reason: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `Commands can't be run in a sandbox here: ${reason}.` });
}
