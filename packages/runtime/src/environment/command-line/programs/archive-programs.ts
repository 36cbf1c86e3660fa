import type { ProgramEntry } from "./program-entry.ts";

/** Programs that list, unpack and make archives. */
export const archivePrograms: readonly ProgramEntry[] = [
  {
    // `-I`, `-F`, `--to-command` and `--checkpoint-action` start programs; `-T` and `-X` read lists of names.
    names: "tar gtar bsdtar",
    unasked: true,
    dashless: true,
    needs: "-t --list",
    flags: `-a -c -h -j -J -k -m -O -p -t -v -x -z -Z
      --auto-compress --bzip2 --create --dereference --extract --get --gunzip --gzip --keep-old-files --list --lzma --no-same-owner
      --no-same-permissions --to-stdout --ungzip --verbose --wildcards --xz --zstd`,
    values: { archive: "-f --file", plain: "--exclude", number: "--strip-components", write: "-C --directory" },
    operands: "read...",
    operandsWith: { "-t -x --extract --get --list": "plain..." },
    follows: "-h --dereference",
    recurses: "-c --create",
    here: { kind: "write", with: "-x --extract --get" },
    alone: "--help --version",
  },
  {
    names: "unzip",
    unasked: true,
    needs: "-l -p -t -v -Z",
    flags: "-C -j -l -n -o -p -q -t -v -Z",
    values: { write: "-d" },
    operands: "read plain...",
    here: { kind: "write" },
    alone: "--help -v",
  },
  { names: "zipinfo", unasked: true, flags: "-1 -2 -h -l -m -s -t -v", operands: "read plain..." },
  {
    names: "zip",
    flags: "-0 -1 -9 -D -j -q -r -v -y",
    values: { plain: "-x" },
    operands: "write read...",
    follows: true,
    recurses: "-r",
    alone: "--help -v",
  },
  {
    names: "gzip gunzip bzip2 bunzip2 xz unxz",
    unasked: true,
    needs: "-c -l -t --list --stdout --test --to-stdout",
    flags: "-c -d -f -k -l -n -q -t -v --decompress --force --keep --list --quiet --stdout --test --to-stdout --uncompress --verbose",
    numbers: true,
    operands: "write...",
    operandsWith: { "-c -l -t --list --stdout --test --to-stdout": "read..." },
    alone: "--help --version",
  },
];
