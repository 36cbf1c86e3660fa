import { EnvironmentError } from "@keelson/protocol";

/** Where no sandbox can be made: nothing runs. */
export function cannotProvide(reason: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `The sandbox can't be made: ${reason}.` }, { cause });
}
