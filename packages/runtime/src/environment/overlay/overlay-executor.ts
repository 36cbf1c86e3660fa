import { EnvironmentError, type Executor } from "@keelson/protocol";
import { policyPath } from "../sandbox/policy-path.ts";
import { createSandboxExecutor } from "../sandbox/sandbox-executor.ts";
import type { SandboxExecutorOptions } from "../sandbox/sandbox-executor-options.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import { isWithin } from "../files/virtual-path.ts";

/** How commands reach an overlay. */
export interface OverlayCommands {
  readonly base: string;
  readonly store: string;
  /** Where the workspace is, or why commands can't write to it. */
  workspace(): string | { readonly refused: string };
  /** Runs a command while nothing is committed or rolled back. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs commands in a sandbox whose workspace is the overlay. Of the store they see nothing else. */
export function createOverlayExecutor(
  { base, store, workspace, during }: OverlayCommands,
  policy: SandboxPolicy,
  options: Omit<SandboxExecutorOptions, "workspace">,
): Executor {
  const { filesystem = {} } = policy;
  return {
    execute: (request) =>
      during(async () => {
        const root = workspace();
        if (typeof root !== "string")
          throw new EnvironmentError({ kind: "provision-failed", message: `Commands can't write to this overlay: ${root.refused}.` });
        for (const given of filesystem.writableRoots ?? []) {
          const path = policyPath(given, root);
          if (isWithin(path, base) || isWithin(base, path))
            throw new EnvironmentError({
              kind: "provision-failed",
              message: `The sandbox can't be made: its writable root ${path} would let commands change the base of their overlay, ${base}.`,
            });
        }
        const confined = { ...policy, filesystem: { ...filesystem, deniedPaths: [...(filesystem.deniedPaths ?? []), store] } };
        return createSandboxExecutor(confined, { ...options, workspace: root }).execute(request);
      }),
  };
}
