import { isIP } from "node:net";
import type { WordKind } from "./programs/program-entry.ts";
import type { ShellWord } from "./shell-word.ts";
import { isPlainAwk } from "./scripts/plain-awk.ts";
import { isPlainJq } from "./scripts/plain-jq.ts";
import { isPlainSed } from "./scripts/plain-sed.ts";

/** Collects the words of a command by their kinds. */
export interface WordTaker {
  readonly reads: ShellWord[];
  readonly looks: ShellWord[];
  readonly writes: ShellWord[];
  /** Folders or files among these into which others go, and files that only get another name. */
  readonly intos: ShellWord[];
  readonly linked: ShellWord[];
  readonly hosts: string[];
  readonly shell: string[];
  readonly scripts: ShellWord[];
  readonly variables: ShellWord[];
  readonly assignments: ShellWord[];
  /** Words that may be names of files to a program that reads what it wants. */
  readonly plain: ShellWord[];
  /** Revisions of git, which may be names of files. */
  readonly revisions: ShellWord[];
  /** Branches, tags and remotes that it makes, moves or deletes. */
  readonly refs: string[];
  /** Folders in which it works, each from the one before. */
  readonly folders: ShellWord[];
  /** Archives, which it reads or writes. */
  readonly archives: ShellWord[];
  /** True if it names files by their paths from the top of a repository. */
  fromTop?: boolean;
  placeholder?: string;
  readonly unlisted: string[];
}

export function createWordTaker(): WordTaker {
  return {
    reads: [],
    looks: [],
    writes: [],
    intos: [],
    linked: [],
    hosts: [],
    shell: [],
    scripts: [],
    variables: [],
    assignments: [],
    plain: [],
    revisions: [],
    refs: [],
    folders: [],
    archives: [],
    unlisted: [],
  };
}

const NUMBER = /^[-+~]?(?:0x[\da-f]+|\d*\.?\d+)(?:[:,./-][-+]?\d+)*[a-zA-Z%]{0,4}$/i;
const HOST = /^(?:[a-z][\w+.-]*:\/\/)?(?:[^/@\s]*@)?(\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)*)(?=[/?#]|:(?![/\\])|$)/i;
const LOCAL = /^file:\/{0,2}(?:localhost(?=\/))?(\/.*)$/is;
/** Protocols without a host, helpers of git such as `ext::`, and user parts that programs take apart in several ways. */
const OTHER_ADDRESS = /^(?:file|data):|^[\w-]+::|[#?\\\s][^/]*@/i;
/** Parts of formats of git for which it runs a program that verifies signatures. */
const VERIFIES = /%[-+ ]*G|signature/i;
const HARMLESS_SETTING = /^(?:branch|core|init|merge|pull|push|rebase|remote|submodule|user)\.[\w./-]+$/i;
const PACKAGE = /^(?:@[\w.-]+\/)?[A-Za-z][\w.-]*(?:\[[\w, .-]*\])?(?:@[\w.^~<>=*|+-]+|(?:[~=!<>]=?|===)[\w.*,<>=!~+-]+)?$/;
/** Formats of `printf` except `%n`, which sets a variable. */
const FORMAT = /^(?:[^%]|%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[diouxXeEfFgGaAcsbqQ]|%\([^)]*\)T)*$/;
const SHELL_OPTION =
  /^(?:braceexpand|errexit|errtrace|functrace|hashall|ignoreeof|interactive-comments|monitor|noclobber|noglob|nolog|notify|nounset|onecmd|pipefail|verbose|xtrace)$/;
const REMOTE = /^[A-Za-z0-9][\w-]*$/;
const WORKSPACE = /^(?:@[\w-][\w.-]*\/|\.\/)?[\w-][\w.-]*(?:\/[\w-][\w.-]*)*\/?$/;
/** A host and a path, to programs that copy to other machines. */
const ELSEWHERE = /^[^/]*:/;
const MAX_TEXT = 64 * 1024;

/** Notes a word of a kind. False if it is not understood as one. */
export function takeWord(word: ShellWord, kind: WordKind, into: WordTaker): boolean {
  const { text, literal } = word;
  switch (kind) {
    case "text":
      return !word.splits;
    case "argument":
      into.plain.push(word);
      return literal && !/^[-+@]|[`$\\"';&|<>(){}\n]/.test(text);
    case "plain":
      into.plain.push(word);
      return literal && !/^[-+@]/.test(text);
    case "number":
      return literal && NUMBER.test(text);
    case "read":
    case "look":
    case "write":
      if (word.isProcess === true && kind === "read") return true;
      if (!literal || text.startsWith("@") || text.includes("://")) return false;
      into[kind === "read" ? "reads" : kind === "look" ? "looks" : "writes"].push(word);
      return true;
    case "link":
      into.reads.push(word);
      into.writes.push(word);
      return literal && !text.startsWith("@");
    case "symlink":
      into.reads.push(word);
      into.writes.push(word);
      into.linked.push(word);
      // A link leads on from the folder in which it is.
      return literal && !text.startsWith("@") && !/(?:^|\/)\.\.?(?:\/|$)/.test(text);
    case "into":
      into.writes.push(word);
      into.intos.push(word);
      return literal && !ELSEWHERE.test(text);
    case "host":
      return takeHost(word, into);
    case "data":
      if (!literal) return false;
      if (text.startsWith("@") && text !== "@-") into.reads.push({ ...word, text: text.slice(1), globs: false, tilde: false });
      return true;
    case "shell":
      into.shell.push(text);
      return literal && !word.globs && text.length <= MAX_TEXT;
    case "script":
      into.scripts.push(word);
      return literal && !word.globs && text.length > 0 && !/^(?:[-+]$|\/(?:dev|proc)\/)/.test(text);
    case "variable":
      into.variables.push(word);
      // A name in quotes is not found when the variables of a line are counted.
      return literal && !word.quoted && /^[A-Za-z_]\w*$/.test(text);
    case "assignment":
      into.assignments.push(word);
      return literal && !word.globs && /^[A-Za-z_]\w*\+?=/.test(text);
    case "placeholder":
      into.placeholder = text;
      return literal && text !== "";
    case "revision":
    case "pathspec":
      return takeOfRepository(word, kind, into);
    case "ref":
      into.refs.push(text);
      return literal && !/^[-+@]/.test(text);
    case "remote":
      return literal && !word.globs && REMOTE.test(text);
    case "origin":
      return takeOrigin(word, into);
    case "workspace":
      return literal && !word.globs && WORKSPACE.test(text);
    case "pretty":
      return literal && !/^[-+@]/.test(text) && !VERIFIES.test(text);
    case "setting":
      return literal && HARMLESS_SETTING.test(text);
    case "folder":
      into.folders.push(word);
      return literal && !word.globs && into.folders.length === 1;
    case "archive":
      into.archives.push(word);
      return literal && !ELSEWHERE.test(text) && !text.startsWith("@");
    case "format":
      return !word.splits && text.startsWith("+");
    case "printf":
      return literal && FORMAT.test(text);
    case "shelloption":
      return literal && SHELL_OPTION.test(text);
    case "sed":
      return literal && isPlainSed(text);
    case "awk":
      return literal && isPlainAwk(text);
    case "jq":
      return literal && isPlainJq(text);
    case "package":
      return literal && !word.globs && PACKAGE.test(text);
    case "target":
      return literal && /^[\w./:][\w./:%+@-]*$/.test(text);
    case "command":
    case "module":
      return false;
  }
}

/** Notes the host of an address, or the file of a `file:` URL, which is no host. Its path may be computed, but neither its protocol nor its host. */
function takeHost(word: ShellWord, into: WordTaker): boolean {
  const { text, literal } = word;
  const file = LOCAL.exec(text)?.[1];
  if (file !== undefined) {
    // A wildcard that covers addresses does not cover files.
    into.reads.push({ ...word, text: decoded(file), globs: false, tilde: false });
    return false;
  }
  const host = isIP(text) === 0 ? HOST.exec(text)?.[1] : text;
  if (host === undefined) return false;
  into.hosts.push(host);
  return literal && !word.globs && !OTHER_ADDRESS.test(text);
}

/** A name such as `origin` connects to what is configured for it, a URL to its host, a folder to nothing. Helpers such as `ext::` start programs. */
function takeOrigin(word: ShellWord, into: WordTaker): boolean {
  const { text, literal } = word;
  if (!literal || word.globs || /^[-+]|::/.test(text)) return false;
  if (text.includes("://")) return takeHost(word, into);
  const host = /^(?:[^/@\s]*@)?([^/:\s]+):/.exec(text)?.[1];
  if (host !== undefined) into.hosts.push(host);
  else if (/[./~]/.test(text)) into.reads.push(word);
  return true;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** `HEAD:.env` shows a file, and so does a word that may be its name. Git reads the wildcards in it itself. */
function takeOfRepository(word: ShellWord, kind: "revision" | "pathspec", into: WordTaker): boolean {
  const { text } = word;
  if (!word.literal) return false;
  if (/^:[!^]/.test(text)) return true;
  // Other magic of pathspecs may lead anywhere in the repository.
  if (kind === "pathspec" && text.startsWith(":")) return false;
  const colons = kind === "revision" ? [...text.matchAll(/:(?:[0-3]:)?/g)] : [];
  // A colon may also be in the name of a revision: `HEAD@{2 days ago 10:00}:file`.
  const paths = colons.length === 0 ? [text] : colons.map(({ index, 0: { length } }) => text.slice(index + length));
  for (const path of paths.filter((one) => one !== ""))
    (kind === "revision" && colons.length === 0 ? into.revisions : into.reads).push({
      ...word,
      text: path,
      tilde: false,
      globs: word.globs || /[*?[]/.test(path),
    });
  if (colons.length > 0) into.fromTop = true;
  return true;
}
