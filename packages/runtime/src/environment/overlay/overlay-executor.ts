import { EnvironmentError, type Executor } from "@keelson/protocol";
import { isWithin } from "../files/virtual-path.ts";
import { policyPath } from "../sandbox/policy-path.ts";
import { readSandboxPolicy } from "../sandbox/read-sandbox-policy.ts";
import type { SandboxWorkspace } from "../sandbox/run-in-sandbox.ts";
import { createWorkspaceExecutor } from "../sandbox/sandbox-executor.ts";
import type { SandboxExecutorOptions } from "../sandbox/sandbox-executor-options.ts";
import { OWN_PLACE } from "../sandbox/sandbox-place.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/** How commands reach an overlay. */
export interface OverlayCommands {
  readonly base: string;
  readonly store: string;
  /** Where they run now, or why they can't. */
  now(): NonNullable<OverlayLayer["commands"]> | { readonly refused: string };
  /** Runs a command while nothing is committed or rolled back. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs commands in a sandbox whose workspace is the overlay. Of the store they see nothing else. */
export function createOverlayExecutor(
  { base, store, now, during }: OverlayCommands,
  policy: SandboxPolicy,
  options: Omit<SandboxExecutorOptions, "workspace" | "session">,
): Executor {
  const { filesystem = {}, ...rest } = readSandboxPolicy(policy);
  const confined = { ...rest, filesystem: { ...filesystem, deniedPaths: [...(filesystem.deniedPaths ?? []), store] } };

  function workspace(): SandboxWorkspace {
    const commands = now();
    if ("refused" in commands)
      throw new EnvironmentError({ kind: "provision-failed", message: `Commands can't write to this overlay: ${commands.refused}.` });
    for (const given of filesystem.writableRoots ?? []) {
      const path = policyPath(given, commands.folder);
      // Where the layer stands over the base, its path is that of the layer.
      const isOver = commands.folder === base && isWithin(base, path);
      if (!isOver && (isWithin(path, base) || isWithin(base, path)))
        throw new EnvironmentError({
          kind: "provision-failed",
          message: `The sandbox can't be made: its writable root ${path} would let commands change the base of their overlay, ${base}.`,
        });
    }
    return { policy: confined, ...commands };
  }
  return createWorkspaceExecutor(options, {
    now() {
      const commands = now();
      // Nothing runs there; what would be refused can be told all the same.
      return { policy: confined, ...("refused" in commands ? { folder: base, place: OWN_PLACE } : commands) };
    },
    use: (work) => during(async () => work(workspace())),
  });
}
