import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { readCommandLine } from "keelson/environment";
import type { CoveredFiles } from "./covered-files.ts";
import { findProgram, type StartedProgram } from "./started-program.ts";

/** Programs that load no code of the folder that they are started in, whatever their options are. */
const PLAIN_PROGRAMS: ReadonlySet<string> = new Set(
  (
    "echo printf cat tee touch mkdir rmdir rm cp mv ln chmod sleep true false : test [ exit return read shift break continue head tail wc cut tr " +
    "uniq date dirname basename curl grep egrep fgrep jq seq expr cmp stat ls pwd realpath readlink md5sum sha1sum sha256sum base64 id whoami " +
    "uname hostname nproc"
  ).split(" "),
);
/** Those that load none if their line was understood as one that only reads. Others, such as git and cargo, obey settings of the folder. */
const READING_PROGRAMS: ReadonlySet<string> = new Set("sort sed awk find rg cd set local type diff".split(" "));
/** A filter of jq that loads another, or that is in a file. */
const LOADS_FILTER = /^jq\b.*(?:\b(?:import|include)\b| -\w*[fL]| --from-file| --library-path)/s;
const GOES_ELSEWHERE = /^\s*cd\s+(?<folder>[\w@%+,./-]+)\s*&&\s*(?<rest>\S[\s\S]*)$/;
/** Variables that decide what is run, also by words of builtins such as `read PATH`. */
const DECIDING_VARIABLE = /\b(?:PATH|CDPATH|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|NODE_\w+|PYTHON\w+|(?:LD|DYLD)_\w+)\b/;
/** A variable that a shell or an interpreter may obey is set. */
const SETS_VARIABLE = /(?<![\w-])[A-Z_][A-Z0-9_]*\+?=/;

/**
 * Adds the files of the project that a line for a shell, or a script, leads to: those of each program in it.
 * @param coverStarted - adds the files of a program in it
 * @param source - the script that the text is from
 */
export async function coverShell(
  text: string,
  started: StartedProgram,
  files: CoveredFiles,
  coverStarted: (started: StartedProgram) => Promise<void>,
  source?: string,
): Promise<void> {
  const { cwd, path } = started;
  const shown = (why: string): string => (source === undefined ? why : `${source}: ${why}`);
  const elsewhere = GOES_ELSEWHERE.exec(text)?.groups;
  if (elsewhere !== undefined) {
    const folder = resolve(cwd, elsewhere["folder"] ?? "");
    files.add(folder);
    if (!isPlainFolder(folder)) return files.notUnderstood(shown(`cd ${elsewhere["folder"]}, which is no folder`));
    return coverShell(elsewhere["rest"] ?? "", { ...started, cwd: folder }, files, coverStarted, source);
  }
  const { commands = [], reads = [], unknown = [] } = await readCommandLine(text, { cwd });
  if (unknown[0] !== undefined) return files.notUnderstood(shown(source === undefined ? `${text.trim()} (${unknown[0]})` : unknown[0]));
  const variable = DECIDING_VARIABLE.exec(text)?.[0];
  if (variable !== undefined) return files.notUnderstood(shown(`${source === undefined ? text.trim() : "it"} has to do with ${variable}`));
  for (const path of reads) files.addWord(path, cwd);
  for (const command of commands) {
    const [program = "", ...args] = command.text.split(" ");
    if (!program.includes("/") && /^[\w.+-]+$/.test(program)) {
      const found = findProgram({ program, args, cwd, path }, files);
      const isPlain =
        (PLAIN_PROGRAMS.has(program) || (command.readOnly === true && READING_PROGRAMS.has(program))) && !LOADS_FILTER.test(command.text);
      if (isPlain && (found === undefined || !files.isWithin(found)) && !(program === "cd" && commands.length > 1)) {
        for (const word of args) files.addWord(word, cwd);
        continue;
      }
    } else if (command.readOnly === true && !program.includes("/")) continue;
    if (program === "cd") files.notUnderstood(shown(`${command.text}, after which paths mean something else`));
    else if (!isLiteral(command.text, text) || SETS_VARIABLE.test(text)) files.notUnderstood(shown(command.text));
    else await coverStarted({ program, args, cwd, path });
  }
}

/** True if the text has the words of a command as they are read: without quotes, escapes and what a shell computes. */
function isLiteral(command: string, text: string): boolean {
  if (!/^[\w@%+=:,./ -]+$/.test(command)) return false;
  for (let at = text.indexOf(command); at >= 0; at = text.indexOf(command, at + 1))
    if (/(?:^|[\s;&|({])$/.test(text.slice(0, at)) && /^(?:$|[\s;&|)}<>])/.test(text.slice(at + command.length))) return true;
  return false;
}

function isPlainFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}
