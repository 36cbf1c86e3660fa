/** A line of a hunk: what is around the change, what it removes, or what it adds. */
export interface HunkLine {
  readonly kind: "context" | "removed" | "added";
  readonly text: string;
  /** The line as it was written, with its mark. */
  readonly raw: string;
}

/** A change of neighbouring lines of a file. */
export interface Hunk {
  /** Lines of the file that lead to the place, such as the head of a class and of a method in it. */
  readonly headers: readonly string[];
  readonly lines: readonly HunkLine[];
  /** True if the lines are said to be the last ones of the file. */
  readonly atEnd: boolean;
  /** The first line before the change, from 1, if the hunk says so and its counts are right. */
  readonly start: number | undefined;
  /** A line end at the end of the file that the hunk is said to add or to remove. */
  readonly lastLineEnd: "added" | "removed" | undefined;
}

/** The change of one file. Paths are as they were written, without the prefixes of git. */
export type FilePatch =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | {
      readonly kind: "delete";
      readonly path: string;
      /** The lines that the file is said to have. */ readonly lines: readonly string[] | undefined;
    }
  | { readonly kind: "update"; readonly path: string; readonly moveTo: string | undefined; readonly hunks: readonly Hunk[] };

/** A patch that was read, or the reason why it was not. */
export type ParsedPatch =
  | { readonly files: readonly FilePatch[]; readonly notes: readonly string[]; readonly problem?: undefined }
  | { readonly problem: string; /** From 1. */ readonly line?: number };

/** Reads a line of a hunk. A line without a mark counts as context: models leave out the blank. */
export function hunkLine(raw: string): HunkLine {
  const mark = raw[0];
  if (mark === "+") return { kind: "added", text: raw.slice(1), raw };
  if (mark === "-") return { kind: "removed", text: raw.slice(1), raw };
  return { kind: "context", text: mark === " " ? raw.slice(1) : raw, raw };
}
