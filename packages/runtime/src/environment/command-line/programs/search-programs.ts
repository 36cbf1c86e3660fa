import type { ProgramEntry } from "./program-entry.ts";

/** Programs that look for text in files, for files by their names, and for values in structured files. */
export const searchPrograms: readonly ProgramEntry[] = [
  {
    names: "grep egrep fgrep",
    unasked: true,
    flags: `-a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -R -s -T -u -U -v -w -x -y -z -Z
      --basic-regexp --binary --byte-offset --count --dereference-recursive --extended-regexp --files-with-matches --files-without-match
      --fixed-strings --ignore-case --initial-tab --invert-match --line-buffered --line-number --line-regexp --no-filename
      --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --recursive --silent
      --text --with-filename --word-regexp`,
    values: {
      text: "-d -D -e --binary-files --devices --directories --exclude --exclude-dir --group-separator --include --label --regexp",
      number: "-A -B -C -m --after-context --before-context --context --max-count",
      read: "-f --file",
    },
    optional: { text: "--color --colour" },
    numbers: true,
    operands: "text read...",
    given: "-e -f --file --regexp",
    only: "--include",
    follows: "-R --dereference-recursive",
    recurses: "-d -r -R --dereference-recursive --directories --recursive",
    here: { kind: "read", with: "-r -R --dereference-recursive --recursive" },
    alone: "--help --version -V",
  },
  {
    names: "zgrep zegrep zfgrep",
    unasked: true,
    flags: "-c -E -F -h -H -i -l -n -o -v -w -x",
    operands: "text read...",
    alone: "--help --version -V",
  },
  {
    // `--pre` and `--hostname-bin` start programs, `-z` starts one for each kind of archive.
    names: "rg",
    unasked: true,
    flags: `-. -0 -a -c -F -H -i -I -l -L -n -N -o -p -P -q -s -S -u -U -v -w -x
      --auto-hybrid-regex --block-buffered --byte-offset --case-sensitive --column --count --count-matches --crlf --files
      --files-with-matches --files-without-match --fixed-strings --follow --glob-case-insensitive --heading --hidden --ignore-case
      --include-zero --invert-match --json --line-buffered --line-number --line-regexp --max-columns-preview --multiline
      --multiline-dotall --no-config --no-filename --no-follow --no-heading --no-hidden --no-ignore --no-ignore-dot --no-ignore-exclude
      --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-json --no-line-number
      --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --pcre2 --pretty --quiet
      --smart-case --stats --stop-on-nonmatch --text --trim --type-list --unrestricted --vimgrep --with-filename --word-regexp`,
    values: {
      text: `-e -E -g -r -t -T --color --colors --context-separator --encoding --engine --field-context-separator --field-match-separator
        --glob --iglob --path-separator --regexp --replace --sort --sortr --type --type-add --type-clear --type-not`,
      number: `-A -B -C -d -j -m -M --after-context --before-context --context --dfa-size-limit --max-columns --max-count --max-depth
        --max-filesize --maxdepth --regex-size-limit --threads`,
      read: "-f --file --ignore-file",
    },
    operands: "text read...",
    given: "-e -f --file --files --regexp --type-list",
    skipsHidden: "-. -u -g --hidden --unrestricted --glob --iglob --no-ignore",
    follows: "-L --follow",
    recurses: true,
    here: { kind: "read" },
    alone: "--help --version -h -V",
  },
  {
    names: "ag",
    flags: "-c -f -g -h -H -i -l -L -n -o -Q -s -v -w",
    values: { text: "-G --ignore", number: "-A -B -C -m" },
    operands: "text read...",
    skipsHidden: "-G",
    recurses: true,
    here: { kind: "read" },
    alone: "--version",
  },
  {
    // Modules and data are loaded by words of the filter, variables of the environment are printed by others: see the kind `jq`.
    names: "jq",
    unasked: true,
    flags: `-a -c -C -e -j -M -n -r -R -s -S
      --ascii-output --color-output --compact-output --exit-status --join-output --monochrome-output --null-input --raw-input --raw-output
      --raw-output0 --seq --slurp --sort-keys --stream --stream-errors --tab --unbuffered`,
    values: { number: "--indent" },
    pairs: { "plain text": "--arg --argjson", "plain read": "--rawfile --slurpfile" },
    operands: "jq read...",
    alone: "--help --version -h -V",
  },
  {
    names: "yq",
    unasked: true,
    flags: "-C -e -j -M -n -N -P -r -y -Y --colors --no-colors --no-doc --null-input --prettyPrint --unwrapScalar",
    values: { plain: "-o -p --input-format --output-format", number: "-I --indent" },
    operands: "jq read...",
    alone: "--help --version -h -V",
  },
  {
    // `-files0-from` reads names of files; `-fprint` and its kind write.
    names: "find",
    unasked: true,
    singleDash: true,
    flags: `( ) ! , -H -L -P -O0 -O1 -O2 -O3
      -a -and -d -daystart -delete -depth -empty -executable -false -follow -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race
      -noleaf -not -nouser -nowarn -o -or -print -print0 -prune -quit -readable -true -warn -writable -xdev`,
    values: {
      text: `-fstype -group -ilname -iname -ipath -iregex -iwholename -lname -name -newerat -newerBt -newerct -newermt -path -perm -printf
        -regex -regextype -size -type -user -wholename -xtype`,
      number: "-amin -atime -cmin -ctime -gid -inum -links -maxdepth -mindepth -mmin -mtime -uid -used",
      look: `-anewer -cnewer -newer -neweraa -neweraB -newerac -neweram -newerBa -newerBB -newerBc -newerBm -newerca -newercB -newercc -newercm
        -newerma -newermB -newermc -newermm -samefile`,
      write: "-fls -fprint -fprint0",
      command: "-exec -execdir -ok -okdir",
    },
    pairs: { "write text": "-fprintf" },
    operands: "look...",
    operandsWith: { "-delete": "write..." },
    destroysWith: { "-delete": "contents" },
    deletes: "-delete",
    only: "-name -iname",
    onlyUnless: "-o -or , ! -not",
    follows: "-H -L -follow",
    recurses: true,
    here: { kind: "look" },
    adds: "found",
    alone: "--help --version -help -version",
  },
  {
    // `-x`, `-X` start programs; `-l` starts `ls`.
    names: "fd fdfind",
    unasked: true,
    flags: `-0 -1 -a -F -g -H -i -I -L -p -q -s -u
      --absolute-path --case-sensitive --fixed-strings --follow --full-path --glob --has-results --hidden --ignore-case --no-ignore
      --no-ignore-parent --no-ignore-vcs --one-file-system --print0 --prune --quiet --regex --show-errors --unrestricted`,
    values: {
      text: `-c -e -E -o -S -t --and --change-newer-than --change-older-than --changed-before --changed-within --color --exclude --extension
        --format --owner --path-separator --size --strip-cwd-prefix --type`,
      number: "-d -j --exact-depth --max-depth --max-results --min-depth --threads",
      look: "-C --base-directory --search-path",
    },
    operands: "text look...",
    recurses: true,
    here: { kind: "look" },
    alone: "--help --version -h -V",
  },
];
