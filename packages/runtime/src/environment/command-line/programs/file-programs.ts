import type { ProgramEntry } from "./program-entry.ts";

/** Programs that make, copy, move, change and delete files. They are asked about; the tables say what a wildcard of a rule covers. */
export const filePrograms: readonly ProgramEntry[] = [
  {
    names: "cp",
    flags: `-a -d -f -H -i -l -L -n -p -P -r -R -s -T -u -v -x
      --archive --dereference --force --interactive --link --no-clobber --no-dereference --no-target-directory --one-file-system --parents
      --recursive --remove-destination --strip-trailing-slashes --symbolic-link --update --verbose`,
    values: { into: "-t --target-directory" },
    optional: { text: "--backup --preserve --reflink --sparse" },
    operands: "read... into",
    operandsWith: { "-t --target-directory": "read..." },
    follows: "-H -L --dereference",
    recurses: "-a -r -R --archive --recursive",
    alone: "--help --version",
  },
  {
    names: "mv",
    flags: `-f -i -n -T -u -v
      --force --interactive --no-clobber --no-target-directory --strip-trailing-slashes --update --verbose`,
    values: { into: "-t --target-directory" },
    operands: "link... into",
    operandsWith: { "-t --target-directory": "link..." },
    recurses: true,
    alone: "--help --version",
  },
  {
    names: "ln",
    flags: "-f -i -L -n -P -r -s -T -v --force --interactive --no-dereference --no-target-directory --relative --symbolic --verbose",
    values: { into: "-t --target-directory" },
    operands: "symlink... into",
    alone: "--help --version",
  },
  {
    // `--strip-program` starts a program.
    names: "install",
    flags: "-C -d -D -p -s -v --compare --directory --preserve-timestamps --verbose",
    values: { text: "-g -m -o --group --mode --owner", into: "-t --target-directory" },
    operands: "read... into",
    operandsWith: { "-d --directory": "write...", "-t --target-directory": "read..." },
    alone: "--help --version",
  },
  {
    names: "rm",
    flags: "-d -f -i -I -r -R -v --dir --force --one-file-system --preserve-root --recursive --verbose",
    optional: { text: "--interactive" },
    operands: "write...",
    recurses: "-r -R --recursive",
    alone: "--help --version",
  },
  { names: "rmdir", flags: "-p -v --ignore-fail-on-non-empty --parents --verbose", operands: "write...", alone: "--help --version" },
  { names: "unlink", operands: "write", alone: "--help --version" },
  {
    names: "shred",
    flags: "-f -u -v -x -z --exact --force --verbose --zero",
    values: { number: "-n -s --iterations --size" },
    operands: "write...",
    alone: "--help --version",
  },
  {
    names: "touch",
    flags: "-a -c -h -m --no-create --no-dereference",
    values: { text: "-d -t --date --time", look: "-r --reference" },
    operands: "write...",
    alone: "--help --version",
  },
  { names: "mkdir", flags: "-p -v --parents --verbose", values: { text: "-m --mode" }, operands: "write...", alone: "--help --version" },
  { names: "mkfifo mknod", values: { text: "-m --mode" }, operands: "write plain...", alone: "--help --version" },
  {
    names: "mktemp",
    flags: "-d -q -t -u --directory --dry-run --quiet",
    values: { write: "-p", text: "--suffix" },
    optional: { write: "--tmpdir" },
    operands: "write",
    alone: "--help --version",
  },
  {
    names: "truncate",
    flags: "-c -o --io-blocks --no-create",
    values: { text: "-s --size", look: "-r --reference" },
    operands: "write...",
    alone: "--help --version",
  },
  { names: "tee", flags: "-a -i -p --append --ignore-interrupts", operands: "write...", alone: "--help --version" },
  {
    names: "chmod",
    flags: "-c -f -R -v --changes --quiet --recursive --silent --verbose -w -x -r -wx -rwx +x +w +r",
    values: { look: "--reference" },
    operands: "text write...",
    recurses: "-R --recursive",
    alone: "--help --version",
  },
  {
    names: "chown chgrp",
    flags: "-c -f -h -H -L -P -R -v --changes --dereference --no-dereference --quiet --recursive --silent --verbose",
    values: { look: "--reference", text: "--from" },
    operands: "text write...",
    recurses: "-R --recursive",
    alone: "--help --version",
  },
  {
    names: "dd",
    keys: {
      read: "if",
      write: "of",
      text: "conv iflag oflag status",
      number: "bs cbs count ibs iseek obs oseek seek skip",
    },
    alone: "--help --version",
  },
  { names: "dos2unix unix2dos", flags: "-c -k -q -v --keepdate --quiet", operands: "write...", alone: "--help --version" },
  {
    // A patch names the files that it changes.
    names: "patch",
    flags: "-b -E -f -l -N -R -s -t -u --backup --binary --dry-run --force --forward --quiet --reverse --silent --verbose",
    values: { number: "-F -p --fuzz --strip", read: "-i --input", write: "-d -o -r --directory --output --reject-file" },
    operands: "write read",
    here: { kind: "write" },
    alone: "--help --version",
  },
  {
    // `-e` and `--rsync-path` start programs; an operand with a colon is of another host.
    names: "rsync",
    flags: `-a -A -c -C -h -H -i -l -L -m -n -o -p -P -q -r -R -S -t -u -v -W -x -X -z
      --archive --checksum --delete --delete-after --delete-excluded --dry-run --human-readable --ignore-existing --itemize-changes --links
      --partial --progress --quiet --recursive --relative --stats --times --update --verbose --compress`,
    values: { text: "--exclude --include" },
    operands: "archive... into",
    recurses: true,
    alone: "--help --version",
  },
];
