import { existsSync } from "node:fs";
import { isWithin } from "./policy-path.ts";
import { SYSTEM_FILES, SYSTEM_FOLDERS } from "./policy-places.ts";
import type { Mount } from "./sandbox-mounts.ts";

export interface BubblewrapPlan {
  readonly mounts: readonly Mount[];
  /** Everything of this machine can be read; else only what `mounts` and the system's programs show. */
  readonly showsAll: boolean;
  /** Files that have to be readable in any case. */
  readonly programs: readonly string[];
  readonly cwd: string;
  readonly temporaryBytes: number;
  /** Programs that are not there. */
  readonly hiddenPrograms: readonly string[];
  /** The environment. Not among the arguments of the program, which everybody on the machine can read. */
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** File descriptors of the filter of system calls, and of what bubblewrap tells of itself. */
  readonly filterFd: number;
  readonly statusFd: number;
  /** The arguments for `/tmp` and `/var/tmp`, and the network that bubblewrap is started in, are those of a session. Absent: the command has its own. */
  readonly lasting?: readonly string[] | undefined;
}

// What tells of the machine, or lets its owner set it: where the user is root, files of the kernel are writable to it without any privilege.
const HIDDEN_KERNEL_FILES = [
  "/proc/kcore",
  "/proc/keys",
  "/proc/key-users",
  "/proc/kallsyms",
  "/proc/timer_list",
  "/proc/sched_debug",
  "/proc/latency_stats",
];
/** Each sandbox has its own of these. */
export const PRIVATE_FOLDERS: readonly string[] = ["/tmp", "/var/tmp", "/run"];
const SHOWN_SYS = ["/sys/devices/system", "/sys/fs/cgroup"];

/** What bubblewrap is told, one argument each, without the command. */
export function bubblewrapArguments(plan: BubblewrapPlan): string[] {
  const { mounts, showsAll, programs, cwd, temporaryBytes, hiddenPrograms, variables, filterFd, statusFd, lasting } = plan;
  const own = (folder: string): string[] => ["--perms", "1777", "--size", String(temporaryBytes), "--tmpfs", folder];
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns"],
    ...(lasting === undefined ? ["--unshare-net"] : []),
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv"],
    ...variables.flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--seccomp", String(filterFd), "--json-status-fd", String(statusFd)],
    ...(showsAll ? ["--ro-bind", "/", "/"] : [...SYSTEM_FOLDERS, ...SYSTEM_FILES].flatMap((path) => ["--ro-bind-try", path, path])),
    ...["--dev", "/dev", ...own("/dev/shm"), "--remount-ro", "/dev"],
    ...[
      "--proc",
      "/proc",
      ...HIDDEN_KERNEL_FILES.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
      "--remount-ro",
      "/proc",
    ],
    ...[
      "--size",
      String(temporaryBytes),
      "--tmpfs",
      "/sys",
      ...SHOWN_SYS.flatMap((path) => ["--ro-bind-try", path, path]),
      "--remount-ro",
      "/sys",
    ],
    ...["--size", String(temporaryBytes), "--tmpfs", "/run"],
    ...(lasting ?? ["/tmp", "/var/tmp"].flatMap(own)),
    ...mounts.flatMap(({ path, as }) => {
      switch (as) {
        case "writable":
          return ["--bind", path, path];
        case "read-only":
          return ["--ro-bind", path, path];
        case "hidden-file":
          return ["--ro-bind", "/dev/null", path];
        case "hidden-folder":
          return ["--perms", "0555", "--size", "4096", "--tmpfs", path];
      }
    }),
    // After what is mounted in them.
    ...mounts.flatMap(({ path, as }) => (as === "hidden-folder" ? ["--remount-ro", path] : [])),
    ...programs.flatMap((path) => (showsAll && !PRIVATE_FOLDERS.some((folder) => isWithin(path, folder)) ? [] : ["--ro-bind", path, path])),
    ...hiddenPrograms.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...(showsAll ? [] : ["--remount-ro", "/"]),
    ...["--chdir", cwd],
  ];
}
