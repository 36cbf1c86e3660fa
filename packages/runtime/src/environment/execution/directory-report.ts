import type { ChildProcess } from "node:child_process";
import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";

/** Above the numbers that scripts use for their own descriptors, and below the smallest limit of open files (256 on macOS). */
const KEPT_FD = 219;
/** A path is at most 4096 bytes; a command may write here, too. */
const MAX_BYTES = 64 * 1024;

/**
 * Returns the arguments of a bash that runs a command line as `-c` does, and writes the folder in which it ends to a descriptor. The line is
 * evaluated in the same shell, so that `exit`, `set -e` and failures work as always, and the exit code is kept. It reports once more in a trap, for a
 * line that ends by `exit`.
 * @param shell bash with its options
 * @param descriptor the number under which the shell finds it
 */
export function reportingShell(shell: readonly string[], command: string, descriptor: number): readonly string[] {
  const report = `builtin printf "%s\\0" "$(builtin pwd -P)" 2>/dev/null >&${KEPT_FD}`;
  const script = [
    `exec ${KEPT_FD}>&${descriptor} ${descriptor}>&-`,
    `trap '${report}' EXIT`,
    // One line, and without arguments, as the command would have it.
    'eval "shift;$1"',
    'builtin set -- "$?"',
    report,
    'builtin exit "$1"',
  ].join("; ");
  return [...shell, "-c", script, shell[0] ?? "bash", command];
}

/** True if a shell takes the words of `reportingShell`. */
export function canReportDirectory(shell: string): boolean {
  return /(?:^|\/)bash$/.test(shell);
}

/** Reads what a reporting shell writes. */
export class DirectoryReport {
  #text = "";

  follow(child: ChildProcess, descriptor: number): void {
    const stream = child.stdio[descriptor] as Readable | null | undefined;
    if (stream === null || stream === undefined || !("on" in stream)) return;
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      if (this.#text.length < MAX_BYTES) this.#text += text;
    });
    stream.on("error", () => stream.destroy());
  }

  /** The folder, once the shell has ended. */
  get directory(): string | undefined {
    const path = this.#text.split("\0").at(-2) ?? "";
    return isAbsolute(path) ? path : undefined;
  }
}
