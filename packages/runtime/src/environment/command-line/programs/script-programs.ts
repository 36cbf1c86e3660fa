import type { ProgramEntry } from "./program-entry.ts";

/** Programs that carry out a script in a language of their own, which is read: see the kinds `sed` and `awk`. */
export const scriptPrograms: readonly ProgramEntry[] = [
  {
    // `-f` names a script, which is not read.
    names: "sed gsed",
    unasked: true,
    flags: "-E -n -r -s -u -z --debug --null-data --posix --quiet --regexp-extended --sandbox --separate --silent --unbuffered",
    values: { sed: "-e --expression" },
    optional: { write: "-i --in-place" },
    operands: "sed read...",
    operandsWith: { "-i --in-place": "sed write..." },
    destroys: "files",
    given: "-e --expression",
    alone: "--help --version",
  },
  {
    // `-f`, `-i`, `-l` and `-E` load programs of files.
    names: "awk gawk mawk nawk",
    unasked: true,
    values: { text: "-F -v --assign --field-separator" },
    operands: "awk read...",
    alone: "--version -V",
  },
];
