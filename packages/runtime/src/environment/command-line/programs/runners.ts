import type { ProgramEntry } from "./program-entry.ts";

/** Programs that start a command and only change how it runs. */
const harmless: readonly ProgramEntry[] = [
  { names: "command", flags: "-p -v -V", operands: "command", operandsWith: { "-v -V": "text..." }, builtin: true },
  { names: "builtin", operands: "command", builtin: true },
  { names: "exec", flags: "-c -l", values: { text: "-a" }, operands: "command", builtin: true },
  { names: "time", flags: "-p", operands: "command" },
  { names: "coproc", operands: "command", builtin: true },
  { names: "nohup", operands: "command", alone: "--version --help" },
  { names: "nice", values: { number: "-n --adjustment" }, numbers: true, operands: "command", alone: "--version --help" },
  { names: "ionice", flags: "-t --ignore", values: { text: "-c -n --class --classdata" }, operands: "command" },
  { names: "setsid", flags: "-c -f -w --ctty --fork --wait", operands: "command" },
  {
    names: "timeout gtimeout",
    flags: "-v --foreground --preserve-status --verbose",
    values: { text: "-s --signal", number: "-k --kill-after" },
    operands: "number command",
    alone: "--version --help",
  },
  { names: "stdbuf", values: { text: "-i -o -e --input --output --error" }, operands: "command", alone: "--version --help" },
  { names: "taskset", flags: "-a -c --all-tasks --cpu-list", operands: "text command" },
  {
    names: "chrt",
    flags: "-a -b -f -i -o -r -R --batch --fifo --idle --other --rr --reset-on-fork --all-tasks",
    operands: "number command",
  },
  {
    names: "env",
    flags: "-i -0 -v --ignore-environment --null --debug",
    values: { variable: "-u --unset" },
    operands: "assignment... command",
    alone: "--version --help",
  },
];

/** Programs that start a command with more arguments, or in another place. */
const others: readonly ProgramEntry[] = [
  {
    names: "xargs",
    flags: "-0 -o -p -r -t -x --null --no-run-if-empty --open-tty --interactive --verbose --exit",
    values: {
      number: "-L -n -P -s --max-lines --max-args --max-procs --max-chars",
      text: "-d -E --delimiter",
      placeholder: "-I",
      read: "-a --arg-file",
    },
    optional: { placeholder: "--replace" },
    operands: "command",
    adds: "input",
    unasked: true,
    alone: "--version --help",
  },
  { names: "cross-env", operands: "assignment... command" },
  {
    names: "sudo",
    flags: "-E -H -n -S -k --preserve-env --non-interactive --set-home --stdin",
    values: { text: "-u -g --user --group" },
    operands: "assignment... command",
  },
  { names: "su", flags: "-l", values: { shell: "-c --command" }, operandsWith: { "-c --command": "plain..." }, runsInput: true },
  { names: "strace", flags: "-c -f -q -t -T -v -y", values: { text: "-e", number: "-s", write: "-o" }, operands: "command" },
  { names: "nsenter", flags: "-a -i -m -n -p -u -U", values: { number: "-t --target" }, operands: "command" },
  { names: "prlimit", optional: { number: "--as --core --cpu --fsize --nofile --nproc" }, operands: "command" },
  { names: "flock", flags: "-e -F -n -o -s -u -x", values: { number: "-E -w" }, operands: "write command" },
  { names: "watch", flags: "-b -c -d -e -g -t -w", values: { number: "-n --interval" }, operands: "shell...", stops: true, posix: true },
  { names: "busybox toybox", operands: "command" },
  { names: "doas", flags: "-n", values: { text: "-u" }, operands: "command" },
];

export const runners: readonly ProgramEntry[] = [...harmless.map((entry): ProgramEntry => ({ ...entry, unasked: true })), ...others];
