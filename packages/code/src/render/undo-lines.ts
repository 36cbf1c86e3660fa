import type { LeftReason, Move } from "../history/journal-record.ts";
import type { UndoResult } from "../history/project-history.ts";
import { shownIn } from "../history/compare-trees.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface UndoLinesOptions {
  readonly style: Style;
  /** The root of the history. Paths are shown relative to it. */
  readonly root: string;
  readonly action: "undo" | "redo";
}

const MOST_PATHS = 20;

/** Describes an undo or redo: the files that it brought back, and those that it left, with the reason and what to do. */
export function undoLines({ steps, done, left }: UndoResult, { style, root, action }: UndoLinesOptions): string[] {
  if (steps.length === 0)
    return [
      action === "undo"
        ? "Nothing to undo: no change of a file in this session is left."
        : "Nothing to redo: files changed since, or nothing was undone.",
    ];
  const word = action === "undo" ? "undone" : "redone";
  const titles = steps.map(({ title }) => printableLine(title));
  const shownTitles = titles.length > 3 ? `${titles.slice(0, 3).join("; ")}; and ${titles.length - 3} more` : titles.join("; ");
  const lines = done.length === 0 && left.length > 0 ? [style.yellow(`not ${word}: ${shownTitles}`)] : [`${word}: ${shownTitles}`];
  lines.push(
    ...bounded(
      groups(done, root).map(({ path, move }) => `  ${verbOf(move)} ${path}`),
      style,
    ),
  );
  if (left.length > 0) {
    const kept = groups(left, root).map(({ path, move }) => style.yellow(`  ! ${path} was left as it is: ${REASONS[move.reason]}`));
    lines.push(...bounded(kept, style));
    if (left.some(({ reason }) => reason === "unclear"))
      lines.push(
        style.yellow(done.length > 0 ? "  To undo those as well: /redo, then /undo unclear." : "  To undo those as well: /undo unclear."),
      );
  }
  return lines;
}

const REASONS: { readonly [R in LeftReason]: string } = {
  "changed": "it was changed since by someone else",
  "repository": "another part of the repository was changed since by someone else, and it goes back as a whole",
  "unclear": "it may be your own change: it was made after a crash, or while a command ran in the background for long",
  "not-kept": "its earlier content is not kept",
  "not-empty": "the folder has other content",
  "blocked": "the system refused the change; check its permissions and the space on the disk",
};

function verbOf({ from, to }: Move): string {
  if (to === undefined) return "removed";
  return from === undefined ? "brought back" : "restored";
}

/** Groups moves by what is shown of them: the files of a repository are one entry. */
function groups<M extends Move>(moves: readonly M[], root: string): readonly { readonly path: string; readonly move: M }[] {
  const found = new Map<string, { readonly path: string; readonly move: M }>();
  for (const move of moves.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const shown = printableLine(shownIn(root, move.path));
    const repository = /^(.*?\.git)\//.exec(shown)?.[1];
    const path = repository === undefined ? shown : `${repository} (state of the repository)`;
    const key = `${path}\n${"reason" in move ? String(move.reason) : ""}`;
    if (!found.has(key)) found.set(key, { path, move });
  }
  return [...found.values()];
}

function bounded(lines: readonly string[], style: Style): readonly string[] {
  return lines.length <= MOST_PATHS + 1 ? lines : [...lines.slice(0, MOST_PATHS), style.dim(`  … ${lines.length - MOST_PATHS} more`)];
}
