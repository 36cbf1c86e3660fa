import type { ProgramEntry } from "./program-entry.ts";

const SHELL_FLAGS = "-b -e -f -h -m -u -v -x -E -T -C +b +e +f +h +m +u +v +x +E +T +C";

/** Builtins of the shell that print, wait, look and set variables. */
const builtins: readonly ProgramEntry[] = [
  { names: ": exit return break continue shift times", anything: true, operands: "text...", unasked: true },
  { names: "type", flags: "-a -f -p -P -t", operands: "text...", unasked: true },
  { names: "umask", flags: "-p -S", operands: "text", unasked: true },
  {
    names: "ulimit",
    flags: "-a -H -S -c -d -f -l -m -n -s -t -u -v",
    operands: "text",
    unasked: true,
  },
  { names: "jobs", flags: "-l -n -p -r -s", operands: "text...", unasked: true },
  { names: "dirs", flags: "-c -l -p -v", operands: "", unasked: true },
  { names: "wait", flags: "-f -n", values: { variable: "-p" }, operands: "text...", unasked: true },
  { names: "caller help", operands: "text...", unasked: true },
  { names: "hash", flags: "-r -l -t -d", operands: "text...", unasked: true },
  { names: "let", operands: "text...", unasked: true },
  {
    names: "read",
    flags: "-r -s",
    values: { text: "-d -p", number: "-n -N -t -u", variable: "-a" },
    operands: "variable...",
    stops: true,
    unasked: true,
  },
  {
    names: "mapfile readarray",
    flags: "-t",
    values: { text: "-d", number: "-n -O -s -u" },
    operands: "variable",
    stops: true,
    unasked: true,
  },
  { names: "getopts", operands: "text variable text...", stops: true, unasked: true },
  { names: "unset", flags: "-f -v", operands: "variable...", stops: true, unasked: true },
  { names: "declare typeset local readonly", flags: "-a -f -g -p -r -A -F", operands: "variable...", stops: true, unasked: true },
  { names: "export", flags: "-n -p", operands: "variable...", stops: true, unasked: true },
  { names: "set", flags: SHELL_FLAGS, values: { shelloption: "-o +o" }, operands: "text...", stops: true, unasked: true },
  {
    names: "kill",
    flags: "-l -L -TERM -KILL -INT -HUP -QUIT -STOP -CONT -USR1 -USR2 -SIGTERM -SIGKILL -SIGINT",
    values: { text: "-s -n" },
    numbers: true,
    operands: "text...",
  },
];

/** Builtins that are programs as well. */
const programs: readonly ProgramEntry[] = [
  { names: "echo true false", anything: true, operands: "text...", unasked: true },
  { names: "pwd", flags: "-L -P --logical --physical", operands: "", unasked: true },
  { names: "printf", values: { variable: "-v" }, operands: "printf text...", stops: true, unasked: true },
];

/** Shells that are given a text or a file. */
const shells: readonly ProgramEntry[] = [
  {
    names: "bash",
    flags: `-c -n ${SHELL_FLAGS} --norc --noprofile`,
    values: { shelloption: "-o +o" },
    operands: "script text...",
    operandsWith: { "-c": "shell text..." },
    stops: true,
    runsInput: true,
    unasked: true,
    alone: "--version --help",
  },
  {
    names: "sh dash",
    flags: "-c -n -b -e -f -h -m -u -v -x +e +u +x",
    values: { shelloption: "-o +o" },
    operands: "script text...",
    operandsWith: { "-c": "shell text..." },
    stops: true,
    runsInput: true,
    posix: true,
    unasked: true,
  },
];

export const shellBuiltins: readonly ProgramEntry[] = [
  ...builtins.map((entry): ProgramEntry => ({ ...entry, builtin: true })),
  ...programs,
  ...shells,
];
