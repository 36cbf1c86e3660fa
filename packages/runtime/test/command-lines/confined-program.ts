import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";

/** A program with its arguments. */
type Started = readonly [program: string, ...args: string[]];

// Capabilities of `root` are kept, so that lines with `su` do what they do outside; only the mounts hold.
const CONFINED: Started = [
  "bwrap",
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", tmpdir()],
  ...["--unshare-pid", "--unshare-net", "--die-with-parent", ...(process.getuid?.() === 0 ? ["--cap-add", "ALL"] : [])],
];

/**
 * Returns a program that can write to `folder` alone and has no network, if bubblewrap can confine it here; else the program as it is. Lines that
 * chance makes are run for real: one of them wrote over the Python of a machine, whose `root` ran them.
 */
export function confinedProgram(folder: string, ...started: Started): Started {
  return canConfine ? [...CONFINED, "--bind", folder, folder, "--", ...started] : started;
}

const canConfine = ((): boolean => {
  try {
    execFileSync(CONFINED[0], [...CONFINED.slice(1), "--", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
