import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Suggestion } from "../../slash-commands/slash-command.ts";
import type { Completion, CompletionSource } from "./completion-source.ts";
import { nearestPaths, type ProjectFiles } from "./project-files.ts";
import { rankPaths } from "./rank-paths.ts";

export interface FileSuggestionsOptions {
  readonly cwd: string;
  readonly project: ProjectFiles;
  /** Folders beside the project that the agent may use, absolute. */
  folders?(): readonly string[];
  /** Default: the home folder of the user. */
  readonly home?: string;
}

/** A path behind `@`, or the word before the cursor if the person asked with Tab. */
interface TypedPath {
  readonly prefix: string;
  readonly query: string;
  readonly hasMark: boolean;
  readonly isQuoted: boolean;
}

/** A person types on rather than read a longer list. */
const MAX_SUGGESTIONS = 20;

const MENTION = /(?:^|[\s([{<`'"、。，])(?<prefix>@(?:"(?<quoted>[^"]*)|(?<plain>[^\s"]*)))$/;
const WORD = /(?:^|\s)(?<prefix>[^\s"]+)$/;

/** Completes files behind `@`: those of the project, of its added folders, and by an absolute path or one from the home folder. */
export function createFileSuggestions({ cwd, project, folders = () => [], home = homedir() }: FileSuggestionsOptions): CompletionSource {
  async function pathsFor(query: string, signal: AbortSignal): Promise<readonly string[]> {
    const slash = query.lastIndexOf("/") + 1;
    // A folder that is typed out shows what it holds; outside of the project only that.
    if (isOutside(query)) return matching(await entriesOf(query.slice(0, slash)), query, signal);
    const paths = await project.list();
    if (signal.aborted) return [];
    if (query === "") return nearestPaths(paths, MAX_SUGGESTIONS);
    if (query.endsWith("/")) return paths.filter((path) => isChild(path, query)).slice(0, MAX_SUGGESTIONS);
    return rankPaths([...paths, ...folders().map((folder) => `${folder}/`)], query, { limit: MAX_SUGGESTIONS, signal });
  }

  function isOutside(query: string): boolean {
    return isAbsolute(query) || query === "~" || query.startsWith("~/") || query === ".." || query.startsWith("../");
  }

  /** @param folder as it was typed, with its last slash */
  async function entriesOf(folder: string): Promise<readonly string[]> {
    const place = folder.startsWith("~/") ? join(home, folder.slice(2)) : resolve(cwd, folder);
    // A folder that does not exist, or that cannot be read, has no suggestions.
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    return entries.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`).toSorted();
  }

  return {
    async complete({ before }, { signal, isAsked }): Promise<Completion | undefined> {
      const typed = typedPath(before, isAsked);
      if (typed === undefined) return undefined;
      const paths = await pathsFor(typed.query === "~" ? "~/" : typed.query, signal);
      if (signal.aborted || paths.length === 0) return undefined;
      return { prefix: typed.prefix, suggestions: paths.map((path) => suggestionOf(path, typed)) };
    },
  };
}

function typedPath(before: string, isAsked: boolean): TypedPath | undefined {
  const mention = MENTION.exec(before)?.groups;
  if (mention !== undefined) {
    const { prefix = "", quoted, plain = "" } = mention;
    return { prefix, query: quoted ?? plain, hasMark: true, isQuoted: quoted !== undefined };
  }
  const prefix = isAsked ? WORD.exec(before)?.groups?.["prefix"] : undefined;
  return prefix === undefined ? undefined : { prefix, query: prefix, hasMark: false, isQuoted: false };
}

async function matching(paths: readonly string[], query: string, signal: AbortSignal): Promise<readonly string[]> {
  const name = query.slice(query.lastIndexOf("/") + 1);
  const folder = query.slice(0, query.length - name.length);
  const shown = paths.filter((path) => name.startsWith(".") || !path.slice(folder.length).startsWith("."));
  if (name === "") return shown.slice(0, MAX_SUGGESTIONS);
  const ranked = await rankPaths(
    shown.map((path) => path.slice(folder.length)),
    name,
    { limit: MAX_SUGGESTIONS, signal },
  );
  return ranked.map((path) => folder + path);
}

function isChild(path: string, folder: string): boolean {
  return path.startsWith(folder) && path.length > folder.length && !path.slice(folder.length, -1).includes("/");
}

/** A folder gets no blank and no closing quote, so that the next key continues in it. */
function suggestionOf(path: string, { hasMark, isQuoted }: TypedPath): Suggestion {
  const isFolder = path.endsWith("/");
  const mark = hasMark ? "@" : "";
  const quotes = isQuoted || /\s/.test(path);
  const value = quotes ? `${mark}"${path}${isFolder ? "" : '" '}` : `${mark}${path}${isFolder ? "" : " "}`;
  return { value, label: path };
}
