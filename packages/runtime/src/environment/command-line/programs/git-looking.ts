import type { ProgramForm } from "./program-entry.ts";

/**
 * Subcommands of git that change nothing. Of their options those are missing that start a program (`--ext-diff`, `--textconv`, `-O` of `grep`,
 * `--show-signature`), write (`--output`), or go into submodules, which have configurations of their own. A value that git takes only
 * attached is `optional`: after `-U` the next word is an option again.
 */
const DIFF_FLAGS = `-a -b -c -D -m -p -r -R -s -t -u -w -W -z
  --binary --cc --check --combined-all-paths --compact-summary --cumulative --default-prefix --exit-code --find-copies-harder --full-index
  --function-context --histogram --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change
  --indent-heuristic --irreversible-delete --ita-invisible-in-index --minimal --name-only --name-status --no-color --no-color-moved
  --no-diff-merges --no-ext-diff --no-indent-heuristic --no-patch --no-prefix --no-relative --no-rename-empty --no-renames --no-textconv
  --numstat --patch --patch-with-raw --patch-with-stat --patience --pickaxe-all --pickaxe-regex --quiet --raw --rename-empty --shortstat
  --summary --text`;
const DIFF_VALUES = `-G -I -S --anchored --color-moved-ws --diff-algorithm --diff-filter --diff-merges --dst-prefix --find-object
  --ignore-matching-lines --line-prefix --rotate-to --skip-to --src-prefix --word-diff-regex --ws-error-highlight`;
const DIFF_NUMBERS = "-l --inter-hunk-context --stat-count --stat-graph-width --stat-name-width --stat-width";
const DIFF_OPTIONAL = `-B -C -M -U -X --abbrev --break-rewrites --color --color-moved --color-words --dirstat --find-copies --find-renames
  --ignore-submodules --relative --stat --unified --word-diff`;

const LOG_FLAGS = `-E -F -g -i -P
  --abbrev-commit --all --all-match --author-date-order --boundary --cherry --cherry-mark --cherry-pick --children --clear-decorations
  --count --date-order --dense --do-walk --extended-regexp --first-parent --fixed-strings --follow --full-diff --full-history --graph
  --invert-grep --left-only --left-right --log-size --mailmap --merges --no-abbrev-commit --no-decorate --no-mailmap --no-max-parents
  --no-merges --no-min-parents --no-notes --no-show-signature --no-use-mailmap --objects --oneline --parents --perl-regexp --reflog
  --regexp-ignore-case --relative-date --remove-empty --reverse --right-only --root --show-pulls --simplify-by-decoration
  --simplify-merges --source --sparse --topo-order --use-mailmap --walk-reflogs`;
const LOG_VALUES = `--after --author --before --committer --date --decorate-refs --decorate-refs-exclude --encoding --exclude --glob --grep
  --grep-reflog --since --since-as-filter --until`;
const LOG_NUMBERS = "--max-count --max-parents --min-parents --skip";
const LOG_OPTIONAL = "--ancestry-path --branches --decorate --expand-tabs --no-walk --notes --remotes --show-linear-break --tags";

const diff: ProgramForm = {
  unasked: true,
  flags: `${DIFF_FLAGS} --cached --merge-base --no-index --staged`,
  values: { plain: DIFF_VALUES, number: DIFF_NUMBERS },
  optional: { plain: DIFF_OPTIONAL },
  operands: "revision...",
  operandsWith: { "--no-index": "read read" },
  here: { kind: "read" },
  recurses: true,
};

/** Options with which `log` prints the content of files. */
const SHOWS_CONTENT = `-c -G -L -m -p -S -u -U -W --binary --cc --color-words --function-context --patch --patch-with-raw --patch-with-stat --unified --word-diff`;

const log: ProgramForm = {
  unasked: true,
  flags: `${DIFF_FLAGS} ${LOG_FLAGS}`,
  values: { plain: `${DIFF_VALUES} ${LOG_VALUES}`, number: `-n ${DIFF_NUMBERS} ${LOG_NUMBERS}`, revision: "-L" },
  optional: { plain: `${DIFF_OPTIONAL} ${LOG_OPTIONAL}`, pretty: "--format --pretty" },
  numbers: true,
  operands: "revision...",
  recurses: true,
  here: { kind: "read", with: SHOWS_CONTENT },
};
/** The options of `log` without its operands: a word after `reflog` may be one of its subcommands that delete. */
const { operands: _, ...logOptions } = log;

/** Subcommands that run unasked, if the configuration that applies starts nothing. */
export const gitLooking: { readonly [names: string]: ProgramForm } = {
  "status": {
    unasked: true,
    flags: "-b -s -v -z --ahead-behind --branch --long --no-ahead-behind --no-column --no-renames --renames --short --show-stash --verbose",
    optional: { plain: "-u --column --find-renames --ignored --ignore-submodules --porcelain --untracked-files" },
    operands: "look...",
  },
  diff,
  "diff-files diff-index diff-tree": { ...diff, flags: `${DIFF_FLAGS} --cached --no-commit-id --root`, operandsWith: {} },
  "log rev-list whatchanged": log,
  // Its `-n` sorts by number and has no value.
  "shortlog": {
    ...log,
    flags: `${DIFF_FLAGS} ${LOG_FLAGS} -e -n --email --numbered`,
    values: { ...log.values, number: `${DIFF_NUMBERS} ${LOG_NUMBERS}` },
  },
  "show": { ...log, here: { kind: "read" } },
  "range-diff": { ...log, flags: `${DIFF_FLAGS} ${LOG_FLAGS} --no-dual-color`, here: { kind: "read" } },
  "cherry": { unasked: true, flags: "-v", optional: { number: "--abbrev" }, operands: "revision..." },
  "reflog": { ...logOptions, subcommands: { show: log } },
  "blame annotate": {
    unasked: true,
    flags: `-b -c -e -f -l -n -p -s -t -w
      --color-by-age --color-lines --first-parent --incremental --line-porcelain --no-progress --porcelain --root --score-debug
      --show-email --show-name --show-number --show-stats`,
    values: { revision: "-L --ignore-rev --reverse", plain: "--date --since", read: "-S --contents --ignore-revs-file" },
    optional: { plain: "-C -M --abbrev" },
    operands: "revision...",
  },
  "describe": {
    unasked: true,
    flags: "--all --always --contains --debug --exact-match --first-parent --long --tags",
    values: { plain: "--exclude --match", number: "--candidates" },
    optional: { plain: "--abbrev --broken --dirty" },
    operands: "revision...",
  },
  "rev-parse": {
    unasked: true,
    flags: `-q --absolute-git-dir --all --git-common-dir --git-dir --is-bare-repository --is-inside-git-dir --is-inside-work-tree
      --is-shallow-repository --quiet --show-cdup --show-prefix --show-superproject-working-tree --show-toplevel --symbolic
      --symbolic-full-name --verify`,
    values: { plain: "--git-path" },
    optional: { plain: "--abbrev-ref --branches --remotes --short --show-object-format --tags" },
    operands: "revision...",
  },
  "ls-files": {
    unasked: true,
    flags: `-c -d -f -i -k -m -o -s -t -u -v -z
      --cached --debug --deduplicate --deleted --directory --eol --error-unmatch --exclude-standard --full-name --ignored --killed
      --modified --no-empty-directory --others --sparse --stage --unmerged`,
    values: { plain: "-x --exclude --with-tree", read: "-X --exclude-from" },
    optional: { number: "--abbrev" },
    operands: "look...",
  },
  "ls-tree": {
    unasked: true,
    flags: "-d -l -r -t -z --full-name --full-tree --long --name-only --name-status --object-only",
    optional: { number: "--abbrev" },
    operands: "revision look...",
  },
  "cat-file": { unasked: true, flags: "-e -p -s -t", operands: "revision...", here: { kind: "read" } },
  "merge-base": { unasked: true, flags: "-a --all --fork-point --independent --is-ancestor --octopus", operands: "revision..." },
  "name-rev": {
    unasked: true,
    flags: "--all --always --name-only --no-undefined --tags --undefined",
    values: { plain: "--exclude --refs" },
    operands: "revision...",
  },
  "for-each-ref": {
    unasked: true,
    flags: "--ignore-case --omit-empty",
    values: {
      pretty: "--format",
      plain: "--exclude --sort",
      revision: "--points-at",
      number: "--count",
    },
    optional: { revision: "--contains --merged --no-contains --no-merged" },
    operands: "plain...",
  },
  "show-ref": {
    unasked: true,
    flags: "-d -q --branches --dereference --exists --head --heads --quiet --tags --verify",
    optional: { number: "-s --abbrev --hash" },
    operands: "plain...",
  },
  "check-ignore": { unasked: true, flags: "-n -q -v -z --no-index --non-matching --quiet --verbose", operands: "look..." },
  "check-attr": { unasked: true, flags: "-a -z --all --cached", operands: "plain look..." },
  "count-objects": { unasked: true, flags: "-H -v --human-readable --verbose" },
  "version": { unasked: true, flags: "--build-options" },
  "grep": {
    unasked: true,
    recurses: true,
    flags: `-a -c -E -F -G -h -H -i -I -l -L -n -o -p -P -q -v -w -W -z
      --all-match --and --basic-regexp --break --cached --column --count --exclude-standard --extended-regexp --files-with-matches
      --files-without-match --fixed-strings --full-name --function-context --heading --ignore-case --invert-match --line-number --name-only
      --no-color --not --null --only-matching --or --perl-regexp --quiet --show-function --text
      --word-regexp ( )`,
    values: {
      text: "-e",
      read: "-f",
      number: "-A -B -C -m --after-context --before-context --context --max-count --max-depth --threads",
    },
    optional: { plain: "--color" },
    numbers: true,
    operands: "text revision...",
    given: "-e -f",
    here: { kind: "read" },
  },
  "config": {
    // `-f` and `--blob` read other files. Without an option that reads it writes. Lists show the settings of the user, tokens too.
    unasked: true,
    flags: "-l --bool --get --get-all --int --list --local --name-only --path --show-origin --show-scope --worktree",
    values: { plain: "--type" },
    needs: "--get --get-all",
    operandsWith: { "--get --get-all": "setting plain" },
    subcommands: {
      get: { unasked: true, flags: "--all --local --show-names", operands: "setting" },
      list: { flags: "--local --name-only --show-origin --show-scope" },
    },
  },
};

export { diff as gitDiff, log as gitLog };
