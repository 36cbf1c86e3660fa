import type { ChildProcess } from "node:child_process";
import { type MountEntry, placeOf, readMountTable } from "./mount-table.ts";
import type { Mount } from "./sandbox-mounts.ts";

/**
 * Runs first in the sandbox, when all its mounts are made, and waits until they have been looked at from outside. Paths are mounted by
 * name: somebody who can write to a folder could swap a part of one for a link between our look at it and the mount.
 */
export function gateScript(descriptor: number): string {
  return `printf . >&${descriptor}
IFS= read -r word <&${descriptor} && [ "$word" = go ] || exit 125`;
}

/**
 * Lets the sandbox of this process begin once `check` resolves. @returns what `check` rejected with, when the process has ended
 */
export function keepGate(child: ChildProcess, descriptor: number, check: () => Promise<void>): () => unknown {
  const stream = child.stdio[descriptor];
  let refusal: unknown;
  if (stream === null || stream === undefined || !("write" in stream) || !("on" in stream)) return () => refusal;
  stream.on("error", () => stream.destroy());
  stream.once("data", () => {
    check().then(
      () => void stream.write("go\n"),
      (error: unknown) => {
        refusal = error;
        stream.destroy();
      },
    );
  });
  return () => refusal;
}

/**
 * What is wrong with the mounts of a sandbox whose first process is `pid`; `undefined` when they are those that were planned.
 * @param outside the mounts where the sandbox was made
 */
export async function misplacedMount(planned: readonly Mount[], pid: number, outside: readonly MountEntry[]): Promise<string | undefined> {
  const inside = await readMountTable(pid);
  const wrong = planned.find((mount) => !isInPlace(mount, inside, outside));
  return wrong && `${wrong.path} became something else while it was being made`;
}

export function isInPlace({ path, as }: Mount, inside: readonly MountEntry[], outside: readonly MountEntry[]): boolean {
  const found = inside.findLast((entry) => entry.path === path);
  if (found === undefined) return false;
  if (as !== "writable") return !found.isWritable;
  const meant = placeOf(path, outside);
  return meant !== undefined && found.device === meant.device && found.root === meant.root;
}
