import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads `+group:mark` and `-group:mark`. When its input ends, this process is gone, whatever ended it: the groups that are left are
 * killed, and on Linux whoever has one of their marks in its environment, a few times, since others may be started meanwhile.
 */
const SCRIPT = `
entries=
while IFS= read -r line; do
  case $line in
    +*) entries="$entries \${line#+}" ;;
    -*)
      kept=
      for entry in $entries; do [ "$entry" = "\${line#-}" ] || kept="$kept $entry"; done
      entries=$kept ;;
  esac
done
for entry in $entries; do kill -s KILL -- "-\${entry%%:*}"; done
[ -r /proc/self/environ ] || exit 0
for round in 1 2 3; do
  for entry in $entries; do
    mark=\${entry#*:}
    [ -n "$mark" ] || continue
    for file in $(grep -lsaF -e "$mark=1" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s KILL "\${pid%/environ}"
    done
  done
done
`;

let guard: ChildProcess | undefined;

/**
 * Has a process of its own kill the group, and whoever left it with this mark, as soon as this process is gone, also where a signal
 * ended it that it could not handle.
 * @returns takes that back
 */
export function guardGroup(group: number, mark: string): () => void {
  const entry = `${group}:${mark}`;
  tell(`+${entry}\n`);
  return () => tell(`-${entry}\n`);
}

function tell(line: string): void {
  guard ??= startGuard();
  guard.stdin?.write(line);
}

/** A shell in a session of its own: what ends this process with its group or its terminal must not end it. */
function startGuard(): ChildProcess {
  const started = spawn("/bin/sh", ["-c", SCRIPT, "keelson-guard"], {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const lost = (): void => {
    if (guard !== started) return;
    guard = undefined;
    process.emitWarning(
      "The process that ends commands when this one is killed is gone. Those that run now may outlive a SIGKILL; the next command starts it again.",
      "KeelsonWarning",
    );
  };
  started.once("error", lost).once("exit", lost);
  started.stdin?.on("error", lost);
  started.unref();
  // A pipe is a socket here, which its type does not tell.
  (started.stdin as { unref?: () => void } | null)?.unref?.();
  return started;
}
