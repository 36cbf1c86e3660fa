/**
 * Attempts to get out of a sandbox. Each is a script for bash that ends with 0 when it got what it wanted. They run in the workspace
 * of `probe-world.ts`, whose variables they use. Each tries in a folder and a shell of its own, with `PROBE` as its name.
 */
export interface EscapeProbe {
  readonly kind: "file" | "environment" | "process" | "network" | "socket" | "mount" | "kernel" | "hook" | "resource";
  readonly name: string;
  readonly script: string;
  /** Ends with 0 in the next command if the result still exists. Absent: the attempt succeeds when it ends. */
  readonly lasts?: string;
  /** Only root gets this without a sandbox. */
  readonly root?: true;
  /** Ends with 0 where the kernel or the machine has what is tried. */
  readonly where?: string;
}
