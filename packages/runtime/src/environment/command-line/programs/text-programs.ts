import type { ProgramEntry } from "./program-entry.ts";

/** Programs that read, search and print text. */
export const textPrograms: readonly ProgramEntry[] = [
  {
    names: "head tail",
    flags: "-q -v -z -f -F --quiet --silent --verbose --zero-terminated --follow --retry",
    values: { number: "-n -c -s --lines --bytes --sleep-interval --pid --max-unchanged-stats" },
    optional: { text: "--follow" },
    numbers: true,
    operands: "read...",
    unasked: true,
  },
  {
    names: "grep egrep fgrep",
    flags:
      "-E -F -G -P -i -y -w -x -z -s -v -V -b -H -h -L -l -n -o -q -a -I -r -R -T -u -U -Z -c --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data --no-messages --invert-match --version --byte-offset --with-filename --no-filename --files-without-match --files-with-matches --line-number --only-matching --quiet --silent --text --recursive --dereference-recursive --initial-tab --null --count --line-buffered --binary --color --colour --help",
    values: {
      text: "-e --regexp --label --include --exclude --exclude-dir --binary-files --directories --devices -d -D --group-separator",
      read: "-f --file --exclude-from",
      number: "-A -B -C -m --after-context --before-context --context --max-count",
    },
    optional: { text: "--color --colour" },
    numbers: true,
    given: "-e --regexp -f --file",
    operands: "text read...",
    recurses: "-r -R --recursive --dereference-recursive",
    here: { kind: "read", with: "-r -R --recursive --dereference-recursive" },
    unasked: true,
  },
];
