import { EnvironmentError } from "@keelson/protocol";
import { wrongInPolicy } from "./check-policy.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/**
 * Checks what stands in a policy file. A member that is not known is refused: one that was misspelt would protect nothing.
 * @throws EnvironmentError of kind `provision-failed` that names the member and what it may be
 */
export function readSandboxPolicy(value: unknown): SandboxPolicy {
  const wrong = wrongInPolicy(value);
  if (wrong !== undefined)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `The sandbox policy is not understood: ${wrong}.`,
    });
  return value as SandboxPolicy;
}
