import type { Change, FileState } from "../history/file-state.ts";
import { shownIn } from "../history/compare-trees.ts";
import { shownBytes } from "../history/history-note.ts";
import type { CodeHighlight } from "../markdown/highlight-code.ts";
import type { Theme } from "../markdown/theme.ts";
import { diffLines } from "./diff-lines.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface ChangeLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** The root of the history. Paths are shown relative to it. */
  readonly root: string;
  bytesOf(state: FileState | undefined): Buffer | undefined;
  /** Colours of diffs. Default: those of `style`. */
  readonly theme?: Theme | undefined;
  /** Colours of the code in diffs. Default: none. */
  readonly highlight?: CodeHighlight | undefined;
}

const MOST_LINES = 400;
const MOST_BYTES = 512 * 1024;

/** Shows changes of files as diffs. The content of files that may hold secrets is not shown, and a repository is one line. */
export function changeLines(changes: readonly Change[], options: ChangeLinesOptions): string[] {
  const { style, root } = options;
  if (changes.length === 0) return ["No file was changed in this session, or all changes are undone."];
  const lines: string[] = [];
  const repositories = new Map<string, number>();
  for (const [index, change] of changes.entries()) {
    const shown = printableLine(shownIn(root, change.path));
    const repository = /^(?:.*?\.git)(?=\/)/.exec(shown)?.[0];
    if (repository !== undefined) {
      repositories.set(repository, (repositories.get(repository) ?? 0) + 1);
      continue;
    }
    if (lines.length >= MOST_LINES) {
      lines.push(style.dim(`… ${changes.length - index} more files`));
      break;
    }
    lines.push(style.bold(`${verbOf(change)} ${shown}`), ...contentLines(change, options));
  }
  for (const [path, count] of repositories)
    lines.push(style.bold(`changed ${path}`), style.dim(`  state of the repository: ${count} files`));
  return lines;
}

function verbOf({ before, after }: Change): string {
  return before === undefined ? "made" : after === undefined ? "deleted" : "changed";
}

function contentLines({ path, before, after }: Change, { bytesOf, ...options }: ChangeLinesOptions): string[] {
  const { style } = options;
  const states = [before, after].filter((state) => state !== undefined);
  if (states.some((state) => state.type === "file" && state.secret === true))
    return [style.dim("  it may hold secrets; its content is not shown")];
  if (states.every(({ type }) => type === "folder"))
    return before && after ? [style.dim(`  ${described(before)} → ${described(after)}`)] : [];
  const [old, now] = [textOf(before, bytesOf), textOf(after, bytesOf)];
  if (old === undefined || now === undefined || old === now) return [style.dim(`  ${described(before)} → ${described(after)}`)];
  return diffLines(old, now, { ...options, path, numbers: true, context: 2 });
}

/** Returns the text of a state; `""` if nothing is there, `undefined` if it is not text, too long, or not kept. */
function textOf(state: FileState | undefined, bytesOf: ChangeLinesOptions["bytesOf"]): string | undefined {
  if (state === undefined) return "";
  if (state.type !== "file" || state.size > MOST_BYTES) return undefined;
  const bytes = bytesOf(state);
  if (bytes === undefined || bytes.includes(0)) return undefined;
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? undefined : text;
}

function described(state: FileState | undefined): string {
  if (state === undefined) return "nothing";
  const mode = "mode" in state ? `, mode ${state.mode.toString(8)}` : "";
  switch (state.type) {
    case "file":
    case "unkept":
      return `${shownBytes(state.size)}${mode}`;
    case "link":
      return `link to ${printableLine(state.target)}`;
    case "folder":
      return `folder${mode}`;
    default:
      return state.type;
  }
}
