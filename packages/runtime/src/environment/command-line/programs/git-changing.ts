import type { ProgramForm } from "./program-entry.ts";
import { gitDiff, gitLog } from "./git-looking.ts";

const LISTS_REFS = "-l --contains --list --merged --no-contains --no-merged --points-at";

/**
 * Subcommands of git that change the repository or connect to others, with those that only do so in some forms. Of their options those are
 * missing that start a program (`--exec`, `--upload-pack`, `-x`, `-s` of `merge`), open an editor, set configuration (`-c`, `--template`), or
 * read lists from files.
 */
export const gitChanging: { readonly [names: string]: ProgramForm } = {
  "branch": {
    unasked: true,
    flags: `-a -c -C -d -D -f -i -l -m -M -q -r -v
      --all --copy --delete --force --ignore-case --list --move --no-color --no-track --omit-empty --quiet --remotes --show-current
      --unset-upstream --verbose`,
    values: { plain: "--sort", pretty: "--format", revision: "-u --set-upstream-to" },
    optional: { plain: "--abbrev --color --track", revision: "--contains --merged --no-contains --no-merged --points-at" },
    asks: "-c -C -d -D -f -m -M -u --copy --delete --force --move --set-upstream-to --unset-upstream",
    operands: "ref revision",
    operandsWith: { [LISTS_REFS]: "plain...", "-d -D -m -M --delete --move": "ref..." },
    destroys: "none",
  },
  "tag": {
    unasked: true,
    flags: "-a -d -f -i -l --annotate --delete --force --ignore-case --list --no-column --omit-empty",
    values: { plain: "-m --message --sort", pretty: "--format" },
    optional: { number: "-n", plain: "--color --column", revision: "--contains --merged --no-contains --no-merged --points-at" },
    asks: "-a -d -f -m --annotate --delete --force --message",
    operands: "ref revision",
    operandsWith: { [LISTS_REFS]: "plain...", "-d --delete": "ref..." },
    destroys: "none",
  },
  "stash": {
    flags: "-a -k -q -S -u --all --include-untracked --keep-index --no-keep-index --quiet --staged",
    here: { kind: "write" },
    destroys: "tracked",
    destroysWith: { "-a --all": "trees" },
    subcommands: {
      "list": gitLog,
      "show": { ...gitDiff, flags: `${gitDiff.flags ?? ""} --include-untracked --only-untracked` },
      "push save": {
        flags: "-a -k -q -S -u --all --include-untracked --keep-index --no-keep-index --quiet --staged",
        values: { text: "-m --message" },
        operands: "write...",
        here: { kind: "write" },
        destroys: "tracked",
        destroysWith: { "-a --all": "trees" },
      },
      "apply pop": { flags: "-q --index --quiet", operands: "revision", here: { kind: "write" }, destroys: "tracked" },
      "drop": { flags: "-q --quiet", operands: "ref", destroys: "none" },
      "clear": { destroys: "none" },
      "branch": { operands: "ref revision", here: { kind: "write" }, destroys: "tracked" },
    },
  },
  "remote": {
    unasked: true,
    flags: "-v --verbose",
    subcommands: {
      "get-url": { unasked: true, flags: "--all --push", operands: "plain" },
      "show": { operands: "remote" },
      "add": { flags: "-f --no-tags --tags", values: { plain: "-m -t" }, operands: "ref origin", destroys: "none" },
      "remove rm": { operands: "ref", destroys: "none" },
      "rename": { operands: "ref ref", destroys: "none" },
      "set-url": { flags: "--add --delete --push", operands: "ref origin origin", destroys: "none" },
      "prune update": { flags: "-n -p --dry-run --prune", operands: "remote...", destroys: "none" },
      "set-head": { flags: "-a -d --auto --delete", operands: "ref revision", destroys: "none" },
    },
  },
  "notes": { subcommands: { "list show": { unasked: true, operands: "revision", here: { kind: "read" } } } },
  "worktree": {
    subcommands: {
      "list": { unasked: true, flags: "-v -z --porcelain --verbose" },
      "add": {
        flags: "-d -f -q --detach --force --no-track --quiet --track",
        values: { ref: "-b -B" },
        operands: "write revision",
        here: { kind: "read", always: true },
        destroys: "none",
      },
      "remove move": { flags: "-f --force", operands: "write write", destroys: "trees" },
      "prune": { flags: "-n -v --dry-run --verbose", destroys: "none" },
    },
  },
  "submodule": {
    subcommands: {
      "status": { flags: "--cached --recursive", operands: "look..." },
      "deinit": { flags: "-f --all --force", operands: "write...", here: { kind: "write", with: "--all" }, destroys: "trees" },
      "init sync": { flags: "--recursive", operands: "write...", destroys: "none" },
      "update": { flags: "-f --force --init --recursive --remote", values: { number: "--depth --jobs" }, operands: "write..." },
    },
  },
  "add stage": {
    flags: `-A -f -n -N -u -v
      --all --dry-run --force --ignore-errors --ignore-missing --ignore-removal --intent-to-add --no-all --refresh --renormalize --sparse
      --update --verbose`,
    values: { plain: "--chmod" },
    operands: "read...",
    destroys: "none",
  },
  "commit": {
    flags: `-a -n -o -q -s
      --all --allow-empty --allow-empty-message --amend --branch --dry-run --include --long --no-edit --no-gpg-sign --no-post-rewrite
      --no-signoff --no-verify --only --porcelain --quiet --reset-author --short --signoff --status`,
    values: {
      text: "-m --message",
      read: "-F --file",
      plain: "--author --cleanup --date --trailer",
      revision: "-C --fixup --reuse-message --squash",
    },
    operands: "read...",
    destroys: "none",
  },
  "checkout": {
    flags: `-d -f -l -m -q --detach --force --guess --ignore-other-worktrees --merge --no-guess --no-overlay --no-progress --no-track --ours
      --overlay --overwrite-ignore --progress --quiet --theirs`,
    values: { ref: "-b -B --orphan", plain: "--conflict" },
    optional: { plain: "-t --track" },
    operands: "pathspec...",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "switch": {
    flags: "-d -f -m -q --detach --discard-changes --force --guess --ignore-other-worktrees --merge --no-guess --no-track --quiet",
    values: { ref: "-c -C --create --force-create --orphan", plain: "--conflict" },
    optional: { plain: "-t --track" },
    operands: "revision revision",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "restore": {
    flags: "-m -q -S -W --ignore-unmerged --merge --no-overlay --ours --overlay --quiet --staged --theirs --worktree",
    values: { revision: "-s --source", plain: "--conflict" },
    operands: "write...",
    destroys: "tracked",
  },
  "reset": {
    flags: "-N -q --hard --intent-to-add --keep --merge --mixed --no-refresh --quiet --refresh --soft",
    operands: "revision...",
    here: { kind: "write", with: "--hard --keep --merge" },
    destroys: "tracked",
  },
  "rm": { flags: "-f -n -q -r --cached --dry-run --force --ignore-unmatch --quiet", operands: "write...", destroys: "tracked" },
  "mv": { flags: "-f -k -n -v --dry-run --force --verbose", operands: "link... into", recurses: true, destroys: "trees" },
  "clean": {
    flags: "-d -f -n -q -x -X --dry-run --force --quiet",
    values: { plain: "-e --exclude" },
    operands: "write...",
    here: { kind: "write" },
    destroys: "tracked",
    destroysWith: { "-n --dry-run": "none", "-x -X": "trees" },
    deletes: true,
  },
  "fetch": {
    flags: `-a -f -k -n -p -P -q -t -v
      --all --append --atomic --dry-run --force --keep --multiple --no-tags --prune --prune-tags --quiet --tags --unshallow --verbose`,
    values: { number: "-j --deepen --depth --jobs", plain: "--filter --refmap --shallow-exclude --shallow-since" },
    operands: "remote plain...",
    destroys: "none",
  },
  "pull": {
    flags: `-f -n -p -q -r -v
      --all --autostash --ff --ff-only --force --no-autostash --no-commit --no-edit --no-ff --no-rebase --no-stat --no-tags --prune --quiet
      --squash --stat --tags --unshallow --verbose`,
    values: { number: "-j --depth --jobs", plain: "-X --strategy-option" },
    optional: { plain: "--rebase" },
    operands: "remote plain...",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "push": {
    flags: `-d -f -n -q -u -v
      --all --atomic --branches --delete --dry-run --follow-tags --force --force-if-includes --mirror --no-verify --porcelain --prune --quiet
      --set-upstream --tags --verbose`,
    values: { plain: "-o --push-option" },
    optional: { plain: "--force-with-lease" },
    operands: "remote plain...",
    destroys: "none",
  },
  "ls-remote": {
    flags: "-h -q -t --branches --exit-code --get-url --heads --quiet --refs --symref --tags",
    values: { plain: "--sort" },
    operands: "remote plain...",
  },
  "merge": {
    flags: `-n -q -v
      --abort --autostash --commit --continue --ff --ff-only --no-autostash --no-commit --no-edit --no-ff --no-stat --no-verify --quiet --quit
      --signoff --squash --stat --verbose`,
    values: { plain: "-X --strategy-option", text: "-m --message" },
    operands: "revision...",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "rebase": {
    flags: `-f -k -n -q -r -v
      --abort --apply --autosquash --autostash --continue --force-rebase --keep-base --keep-empty --merge --no-autosquash --no-autostash
      --no-ff --no-stat --no-verify --quiet --quit --root --skip --stat --update-refs --verbose`,
    values: { revision: "--onto", plain: "-X --strategy-option" },
    operands: "revision...",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "cherry-pick revert": {
    flags: "-n -s -x --abort --allow-empty --continue --ff --no-commit --no-edit --quit --signoff --skip",
    values: { number: "-m --mainline", plain: "-X --strategy-option" },
    operands: "revision...",
    here: { kind: "write" },
    destroys: "tracked",
  },
  "clone": {
    flags: `-l -n -q -s -v
      --bare --local --mirror --no-checkout --no-single-branch --no-tags --quiet --single-branch --sparse --verbose`,
    values: { plain: "-b -o --branch --filter --origin --shallow-since", number: "-j --depth --jobs" },
    operands: "origin write",
    // A copy has all files of the repository.
    here: { kind: "read", always: true },
    destroys: "none",
  },
  "init": {
    flags: "-q --bare --quiet",
    values: { plain: "-b --initial-branch" },
    operands: "write",
    here: { kind: "write" },
    destroys: "none",
  },
  "bisect": {
    subcommands: {
      "start": { operands: "revision...", here: { kind: "write" }, destroys: "tracked" },
      "good bad new old skip reset": { operands: "revision...", here: { kind: "write" }, destroys: "tracked" },
      "log": { unasked: true },
    },
  },
};
