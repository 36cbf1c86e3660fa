import { hasOption, sortArguments } from "./options.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

type Judge = (args: readonly ShellWord[]) => boolean;
const always: Judge = () => true;
/** Only with options, or with one of these words first. */
const listing =
  (options: RegExp, words: readonly string[] = []): Judge =>
  (args) =>
    args.every(({ text, literal }, index) => literal && (options.test(text) || (index === 0 && words.includes(text))));

/** Subcommands that change nothing, with what decides it where arguments do. */
const READING: { readonly [subcommand: string]: Judge } = {
  "status": always,
  "log": always,
  "diff": always,
  "show": always,
  "blame": always,
  "annotate": always,
  "shortlog": always,
  "describe": always,
  "rev-parse": always,
  "rev-list": always,
  "ls-files": always,
  "ls-tree": always,
  "cat-file": always,
  "merge-base": always,
  "name-rev": always,
  "for-each-ref": always,
  "show-ref": always,
  "diff-tree": always,
  "diff-index": always,
  "diff-files": always,
  "check-ignore": always,
  "check-attr": always,
  "count-objects": always,
  "grep": always,
  "whatchanged": always,
  "cherry": always,
  "range-diff": always,
  "version": always,
  "help": (args) => args.length <= 1,
  "branch": listing(/^(?:-[avrl]+|--(?:list|all|remotes|show-current|verbose|no-color|merged|no-merged|sort=\S+|format=.*|contains))$/),
  "tag": listing(/^(?:-l|-n\d*|--(?:list|sort=\S+|format=.*|merged|no-merged))$|[*?]/),
  "remote": (args) => listing(/^(?:-v|--verbose)$/)(args) || (args[0]?.text === "get-url" && args.length === 2),
  "stash": (args) => args[0]?.text === "list" || args[0]?.text === "show",
  "reflog": (args) => args.length === 0 || args[0]?.text === "show" || args[0]?.text.startsWith("-") === true,
  "worktree": (args) => args[0]?.text === "list",
  "submodule": (args) => args.length === 0 || args[0]?.text === "status",
  "config": (args) =>
    args.some(({ text }) => /^(?:--get(?:-all|-regexp)?|-l|--list|get|list)$/.test(text)) &&
    !hasOption(args, "e", ["edit", "unset", "unset-all", "replace-all", "add", "rename-section", "remove-section"]),
  "notes": (args) => args.length === 0 || args[0]?.text === "list" || args[0]?.text === "show",
};

/** Subcommands that are git's own and start nothing that is named on the line. Others may be aliases, which run anything. */
const OWN: ReadonlySet<string> = new Set([
  ...Object.keys(READING),
  ..."add am apply archive bundle checkout cherry-pick clean clone commit commit-tree fetch format-patch fsck gc hash-object init ls-remote merge merge-file merge-tree mktree mv pack-objects pack-refs prune pull push read-tree rebase repack replace request-pull rerere reset restore revert rm sparse-checkout switch symbolic-ref unpack-objects update-index update-ref verify-commit verify-pack verify-tag write-tree index-pack maintenance bisect lfs".split(
    " ",
  ),
]);

/** Options of reading subcommands that write a file or start a program. */
const writesOrRuns = (subcommand: string, args: readonly ShellWord[]): boolean =>
  args.some(
    (word) =>
      (word.text !== "--text" &&
        hasOption([word], "", [
          "output",
          "ext-diff",
          "textconv",
          "open-files-in-pager",
          "upload-pack",
          "exec",
          "receive-pack",
          "show-signature",
        ])) ||
      (subcommand === "grep" && /^-[a-zA-Z]*O/.test(word.text)),
  );

const RUNNING =
  /^(?:--(?:exec|upload-pack|receive-pack|ext-diff|extcmd|tool-cmd|open-files-in-pager|remote-submodules|config|template|rebase-merges-x|to-cmd|cc-cmd|smtp-server)(?:=|$)|ext::)/;

/** What git does depends on its subcommand; what it runs in turn, on options, configuration and aliases. */
export const git: ProgramReader = (args) => {
  let index = 0;
  let doubt: string | undefined;
  let folder: ShellWord | undefined;
  for (; index < args.length; index++) {
    const { text, literal } = args[index] as ShellWord;
    if (!text.startsWith("-")) break;
    if (!literal) return { unknown: "What git does can't be read." };
    if (text === "-C") folder = args[++index];
    else if (/^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--bare|--no-replace-objects)$/.test(text)) continue;
    else if (text === "--version" || text === "--help") return { readOnly: true };
    else {
      if (/^(?:-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/.test(text)) index++;
      doubt = `\`git ${text}\` may change what git runs.`;
    }
  }
  const [subcommand, ...rest] = args.slice(index);
  if (subcommand === undefined) return doubt === undefined ? { readOnly: true } : { unknown: doubt };
  const alias = index === 0 ? undefined : args.slice(index);
  const facts = subcommandFacts(subcommand, rest);
  return {
    ...facts,
    ...(doubt !== undefined && { unknown: doubt, readOnly: false }),
    ...(alias !== undefined && { alias }),
    ...(folder !== undefined && { looks: [...(facts.looks ?? []), folder] }),
  };
};

function subcommandFacts({ text: name, literal }: ShellWord, rest: readonly ShellWord[]): ProgramFacts {
  if (!literal) return { unknown: "Which of git's commands it is can't be read." };
  if (!OWN.has(name)) return { unknown: `\`git ${name}\` may be an alias or a program of any kind.` };
  const judge = Object.hasOwn(READING, name) ? READING[name] : undefined;
  const runs = writesOrRuns(name, rest);
  if (judge !== undefined && judge(rest) && !runs && rest.every(({ literal }) => literal))
    return { readOnly: true, ...readsOf(name, rest) };
  if (name === "config") return { unknown: "Configuration of git may change what it runs." };
  const starts =
    rest.some(({ text }) => RUNNING.test(text)) ||
    (runs && name !== "rebase" && !rest.some(({ text }) => text.startsWith("--outp"))) ||
    (name === "rebase" && hasOption(rest, "x", ["exec"])) ||
    (name === "bisect" && rest[0]?.text === "run") ||
    (["clone", "fetch", "pull", "push", "ls-remote", "archive"].includes(name) &&
      hasOption(rest, name === "clone" ? "uc" : "", ["upload-pack", "exec", "receive-pack", "config"])) ||
    (name === "submodule" && rest[0]?.text === "foreach") ||
    name === "maintenance";
  const { operands } = sortArguments(rest);
  return {
    ...(starts && { unknown: `\`git ${name}\` is told to start another program.` }),
    ...(["rm", "mv", "restore", "checkout", "clean"].includes(name) && { writes: operands }),
  };
}

/** `git show HEAD:.env` and `git diff .env` show what stands in a file. */
function readsOf(name: string, args: readonly ShellWord[]): ProgramFacts {
  const operands = sortArguments(args).operands;
  if (name === "diff" && hasOption(args, "", ["no-index"])) return { reads: operands };
  if (!["diff", "show", "blame", "annotate", "cat-file", "log", "grep"].includes(name)) return {};
  const files = operands.flatMap((word) => {
    const colon = word.text.indexOf(":");
    const text = colon < 0 ? word.text : word.text.slice(colon + 1);
    // Names of commits and ranges are no files; what has a dot or a slash in it may be one.
    return /[./]/.test(text) && !text.includes("..") && !/\s/.test(text) ? [{ ...word, text }] : [];
  });
  return files.length === 0 ? {} : { reads: files };
}
