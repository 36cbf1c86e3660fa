/** Facts about a repository that its settings may state without naming a program, a file or another place. Values are checked where they could. */
const PLAIN_SETTINGS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|untrackedcache|commitgraph|multipackindex|compression)$/,
  /^extensions\.(objectformat|compatobjectformat|refstorage|partialclone|preciousobjects|worktreeconfig|relativeworktrees|noop)$/,
  /^remote\..+\.(url|pushurl|fetch|push|tagopt|mirror|prune|promisor|partialclonefilter|skipdefaultupdate|skipfetchall|gh-resolved)$/,
  /^branch\..+\.(remote|merge|pushremote|rebase|description)$/,
  /^submodule\..+\.(url|active|branch|ignore|fetchrecursesubmodules)$/,
  /^submodule\.(active|recurse|fetchjobs)$/,
  /^user\.(name|email|useconfigonly)$/,
  /^(init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|parallel)|merge\.(conflictstyle|ff)|rebase\.(autosquash|autostash)|rerere\.enabled|commit\.gpgsign|tag\.gpgsign|index\.version|feature\.manyfiles|gc\.auto|lfs\.repositoryformatversion|lfs\..+\.(access|locksverify))$/,
];
const ADDRESS = /\.(url|pushurl)$/;

/** True if the settings of a repository only hold what is listed here: no program, no other file, no other place. */
export function isPlainGitConfig(text: string): boolean {
  let section: string | undefined;
  for (const line of text.split("\n").map((given) => given.replace(/\r$/, "").trim())) {
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const head = /^\[([A-Za-z0-9-]+)(?:[ \t]+"([^"\\\0]*)")?\]$/.exec(line);
    if (head !== null) {
      section = head[2] === undefined ? head[1]?.toLowerCase() : `${head[1]?.toLowerCase()}.${head[2]}`;
      continue;
    }
    const [, key, value = ""] = /^([A-Za-z][A-Za-z0-9-]*)(?:[ \t]*=[ \t]*([^\\\0]*))?$/.exec(line) ?? [];
    if (key === undefined || section === undefined) return false;
    const name = `${section}.${key.toLowerCase()}`;
    if (!PLAIN_SETTINGS.some((plain) => plain.test(name))) return false;
    // `ext::` and its like name programs, and a dash begins an option.
    if (ADDRESS.test(name) && (value.includes("::") || /^["\s]*-/.test(value))) return false;
  }
  return true;
}

/** The place where the settings of a submodule put its files, and the settings without it. */
export function splitWorktreeSetting(text: string): { readonly worktree: string | undefined; readonly rest: string } {
  let worktree: string | undefined;
  const rest = text.replace(/^[ \t]*worktree[ \t]*=[ \t]*([^"\\\n]*?)[ \t]*\r?$/gim, (_line, value: string) => {
    worktree = value;
    return "";
  });
  return { worktree, rest };
}

const PLAIN_STEPS = /^(pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|break|b|noop|label|l|reset|t|merge|m|update-ref|u|revert)(\s|$)/;

/** True if a list of steps of a rebase, cherry-pick or revert starts no program. */
export function isPlainTodo(text: string): boolean {
  return text
    .split("\n")
    .map((line) => line.trim())
    .every((line) => line === "" || line.startsWith("#") || PLAIN_STEPS.test(line));
}
