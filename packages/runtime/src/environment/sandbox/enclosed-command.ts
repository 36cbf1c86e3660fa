import { cannotRun } from "./cannot-run.ts";
import type { ControlGroup } from "./control-group.ts";
import { programPath } from "./find-bubblewrap.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";

/** The command through a shell that enters the control groups, lets go of what we have open, and becomes the command. */
export async function enclosedCommand(
  command: readonly string[],
  group: ControlGroup | undefined,
  lastFd: number,
): Promise<readonly string[]> {
  const descriptors = (await inheritedDescriptors()).filter((descriptor) => descriptor > lastFd);
  if (group === undefined && descriptors.length === 0) return command;
  // Others than bash read no number of two digits before `>`.
  const bash = await programPath("/bin/bash");
  if (bash === undefined && descriptors.some((descriptor) => descriptor > 9))
    throw cannotRun(`this process was started with open files (${descriptors.join(", ")}), which only bash could keep from the command`);
  const steps = [
    ...(group?.entries ?? []).map(() => 'echo 0 >"$1" || exit 125; shift'),
    `exec "$@"${descriptors.map((descriptor) => ` ${descriptor}>&-`).join("")}`,
  ];
  return [...(bash === undefined ? ["/bin/sh"] : [bash, "--norc"]), "-c", steps.join("\n"), "sh", ...(group?.entries ?? []), ...command];
}
