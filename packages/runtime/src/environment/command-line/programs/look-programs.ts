import type { ProgramEntry } from "./program-entry.ts";

/** Programs that show names and properties of files and folders. */
export const lookPrograms: readonly ProgramEntry[] = [
  {
    names: "ls dir vdir",
    unasked: true,
    flags: `-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z
      --all --almost-all --author --context --dereference --dereference-command-line --dereference-command-line-symlink-to-dir --directory
      --dired --escape --file-type --full-time --group-directories-first --hide-control-chars --human-readable --ignore-backups --inode
      --kibibytes --literal --no-group --numeric-uid-gid --quote-name --recursive --reverse --show-control-chars --si --size --zero`,
    values: {
      text: "-I --block-size --format --hide --ignore --indicator-style --quoting-style --sort --time --time-style",
      number: "-T -w --tabsize --width",
    },
    optional: { text: "--classify --color --hyperlink" },
    operands: "look...",
    here: { kind: "look" },
    alone: "--help --version",
  },
  {
    names: "exa eza lsd",
    unasked: true,
    flags: `-1 -a -A -d -F -g -h -i -l -r -R -T
      --all --almost-all --classify --git-ignore --group --group-directories-first --header --icons --inode --long --no-permissions --no-time
      --no-user --oneline --only-dirs --recurse --reverse --tree`,
    values: { text: "-s --color --sort --time-style", number: "-L --depth --level" },
    operands: "look...",
    here: { kind: "look" },
    alone: "--help --version",
  },
  {
    names: "stat",
    unasked: true,
    flags: "-f -L -t -x --dereference --file-system --terse",
    values: { text: "-c --cached --format --printf" },
    operands: "look...",
    alone: "--help --version",
  },
  {
    // `-f` reads names of files, `-m` reads rules and `-C` writes them, `-p` changes times, `-z` starts a program for each kind of archive.
    names: "file",
    unasked: true,
    flags: `-0 -b -E -h -i -I -k -L -N -n -r -s
      --apple --brief --dereference --extension --keep-going --mime --mime-encoding --mime-type --no-buffer --no-dereference --no-pad
      --print0 --raw --special-files`,
    values: { text: "-e -F -P --exclude --exclude-quiet --parameter --separator" },
    operands: "look...",
    alone: "--help --version -v",
  },
  {
    names: "du",
    unasked: true,
    flags: `-0 -a -A -b -c -D -h -H -k -l -L -m -P -s -S -x
      --all --apparent-size --bytes --count-links --dereference --dereference-args --human-readable --inodes --no-dereference --null
      --one-file-system --separate-dirs --si --summarize --total`,
    values: { text: "--exclude --time-style", number: "-B -d -t --block-size --max-depth --threshold" },
    optional: { text: "--time" },
    operands: "look...",
    here: { kind: "look" },
    alone: "--help --version",
  },
  {
    // It reports on file systems, not on the files in them, so the place of its operands does not matter.
    names: "df",
    unasked: true,
    flags: "-a -h -H -i -k -l -m -P -T --all --human-readable --inodes --local --no-sync --portability --print-type --si --total",
    values: { text: "-t -x --exclude-type --type", number: "-B --block-size" },
    optional: { text: "--output" },
    operands: "text...",
    alone: "--help --version",
  },
  {
    // `-o` writes, `-R` writes a page into each folder, `--fromfile` and `--info` read files.
    names: "tree",
    unasked: true,
    flags: `-a -A -c -C -d -D -f -F -g -h -i -J -l -n -N -p -q -Q -r -s -S -t -u -U -v -x -X
      --device --dirsfirst --du --filesfirst --gitignore --ignore-case --inodes --matchdirs --metafirst --nolinks --noreport --prune --si`,
    values: { text: "-I -P --charset --sort --timefmt", number: "-L --filelimit" },
    operands: "look...",
    here: { kind: "look" },
    alone: "--help --version",
  },
  {
    names: "realpath",
    unasked: true,
    flags: "-e -L -m -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --no-symlinks --physical --quiet --strip --zero",
    values: { look: "--relative-base --relative-to" },
    operands: "look...",
    alone: "--help --version",
  },
  {
    names: "readlink",
    unasked: true,
    flags:
      "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero",
    operands: "look...",
    alone: "--help --version",
  },
  {
    names: "basename",
    unasked: true,
    anything: true,
    flags: "-a -z --multiple --zero",
    values: { text: "-s --suffix" },
    operands: "text...",
    alone: "--help --version",
  },
  { names: "dirname", unasked: true, anything: true, flags: "-z --zero", operands: "text...", alone: "--help --version" },
  {
    names: "which",
    unasked: true,
    flags: "-a -s --all --skip-alias --skip-dot --skip-functions --skip-tilde",
    operands: "plain...",
    alone: "--help --version",
  },
  { names: "whereis", unasked: true, flags: "-b -l -m -s -u", operands: "plain...", alone: "--help --version" },
];
