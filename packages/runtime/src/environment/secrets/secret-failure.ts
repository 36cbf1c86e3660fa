import { EnvironmentError } from "@keelson/protocol";

/** Names the reference and never the value. It has no cause: errors of parsers and programs quote what they read. */
export function secretFailed(reference: string, problem: string): EnvironmentError {
  return new EnvironmentError({ kind: "credential-failed", credential: reference, message: `The secret ${reference} ${problem}` });
}
