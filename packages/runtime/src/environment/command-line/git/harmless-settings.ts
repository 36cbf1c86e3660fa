import type { GitSetting } from "./parse-git-config.ts";

/**
 * Settings with which no command that only looks starts another program, reads a file outside of the repository or goes into submodules. Those
 * of a repository come with its folder, so that only these few are known to be harmless; a star replaces the name of a subsection.
 */
const OF_REPOSITORY: ReadonlySet<string> = setOf(`
  advice.* blame.coloring blame.date blame.showemail blame.showroot branch.*.* branch.autosetupmerge branch.autosetuprebase branch.sort
  color.* color.*.* column.branch column.status column.tag column.ui commit.gpgsign commit.verbose core.abbrev core.autocrlf core.bare
  core.bigfilethreshold core.checkstat core.commentchar core.commitgraph core.compression core.eol core.filemode core.fscache core.hidedotfiles
  core.ignorecase core.logallrefupdates core.longpaths core.multipackindex core.precomposeunicode core.preloadindex core.protecthfs
  core.protectntfs core.quotepath core.repositoryformatversion core.safecrlf core.sharedrepository core.sparsecheckout core.sparsecheckoutcone
  core.symlinks core.trustctime core.untrackedcache core.whitespace diff.algorithm diff.colormoved diff.colormovedws diff.context
  diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.relative diff.renamelimit diff.renames
  diff.statgraphwidth diff.suppressblankempty diff.wserrorhighlight extensions.objectformat extensions.preciousobjects
  extensions.worktreeconfig fetch.parallel fetch.prune fetch.prunetags gc.auto gc.autodetach http.*.extraheader grep.column grep.extendedregexp grep.fullname
  grep.linenumber grep.patterntype index.version init.defaultbranch lfs.*.access lfs.repositoryformatversion log.abbrevcommit log.date
  log.decorate log.follow merge.conflictstyle merge.ff pull.ff pull.rebase push.autosetupremote push.default push.followtags
  rebase.autosquash rebase.autostash rebase.updaterefs remote.*.fetch remote.*.gh-resolved remote.*.mirror remote.*.prune remote.*.push
  remote.*.pushurl remote.*.skipdefaultupdate remote.*.tagopt remote.*.url remote.pushdefault rerere.autoupdate rerere.enabled status.aheadbehind
  status.branch status.relativepaths status.renames status.short status.showstash status.showuntrackedfiles submodule.*.active
  submodule.*.branch submodule.*.url submodule.active tag.gpgsign tag.sort user.email user.name user.signingkey user.useconfigonly
`);

/**
 * Settings that a person may have besides in the files of their own. Commands that only look never use most of them: there is no terminal for a
 * pager or an editor, an alias never hides a command of git, and they connect to nothing.
 */
const OF_USER: ReadonlySet<string> = setOf(`
  alias.* author.* blame.ignorerevsfile browser.*.* checkout.* clone.* column.* commit.* committer.* core.askpass core.attributesfile core.editor
  core.excludesfile core.pager core.sshcommand credential.* credential.*.* delta.* delta.*.* diff.guitool diff.tool difftool.* difftool.*.* fetch.* format.*
  gpg.* gpg.*.* gui.* help.* http.* http.*.* init.* interactive.* lfs.* lfs.*.* mailmap.file maintenance.* man.*.* merge.guitool merge.tool mergetool.*
  mergetool.*.* pager.* pull.* push.* rebase.* receive.* safe.* sendemail.* sequence.* tag.* transfer.* url.*.* user.*
`);

/** Settings that are harmless with one value alone. The filter of Git LFS is a program that obeys no folder in these forms. */
const WITH_VALUE: { readonly [name: string]: RegExp } = {
  "core.fsmonitor": /^(?:false|no|off|0|)$/,
  "filter.lfs.clean": /^git-lfs clean -- %f$/,
  "filter.lfs.process": /^git-lfs filter-process$/,
  "filter.lfs.required": /^true$/,
  "filter.lfs.smudge": /^git-lfs smudge -- %f$/,
};

function setOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** True if no command of git that only looks does more because of this setting. */
export function isHarmlessSetting({ name, value }: GitSetting, owner: "repository" | "user"): boolean {
  if (Object.hasOwn(WITH_VALUE, name)) return value !== undefined && (WITH_VALUE[name] as RegExp).test(value);
  const known = [name, starred(name)].filter((one) => one !== undefined);
  return known.some((one) => OF_REPOSITORY.has(one) || (owner === "user" && OF_USER.has(one)));
}

/** The name with a star for its subsection, or for its variable if it has none. */
function starred(name: string): string {
  const first = name.indexOf(".");
  const last = name.lastIndexOf(".");
  if (first === last) return `${name.slice(0, first)}.*`;
  const variable = name.slice(last);
  return (
    [`${name.slice(0, first)}.*${variable}`, `${name.slice(0, first)}.*.*`].find((one) => OF_REPOSITORY.has(one)) ??
    `${name.slice(0, first)}.*.*`
  );
}
