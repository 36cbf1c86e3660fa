import { isUtf8 } from "node:buffer";
import { EnvironmentError } from "@keelson/protocol";

/** The part of `node-diff3` that is called. */
export interface LineMerger {
  diff3Merge(
    ours: string[],
    original: string[],
    theirs: string[],
    options: { readonly excludeFalseConflicts: boolean },
  ): readonly { readonly ok?: readonly string[]; readonly conflict?: unknown }[];
  diffIndices(
    before: string[],
    after: string[],
  ): readonly { readonly buffer1: readonly [number, number]; readonly buffer2: readonly [number, number] }[];
}

const PACKAGE = "node-diff3";

/** The package that compares and merges lines, which is not installed with this one. */
export async function loadLineMerger(importModule: (name: string) => Promise<unknown> = (name) => import(name)): Promise<LineMerger> {
  try {
    return (await importModule(PACKAGE)) as LineMerger;
  } catch (error) {
    throw new EnvironmentError(
      { kind: "unsupported", message: `Comparing and merging text needs the package ${PACKAGE}. Install it: npm install ${PACKAGE}` },
      { cause: error },
    );
  }
}

/** The text of a file; `undefined` when it is none. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString("utf8") : undefined;
}

/** A text with what both sides changed in it; `undefined` where they changed the same lines in different ways. */
export function mergeLines(merger: LineMerger, original: string, ours: string, theirs: string): string | undefined {
  const regions = merger.diff3Merge(linesOf(ours), linesOf(original), linesOf(theirs), { excludeFalseConflicts: true });
  const merged: string[] = [];
  for (const { ok } of regions) {
    if (ok === undefined) return undefined;
    for (const line of ok) merged.push(line);
  }
  return merged.join("");
}

const CONTEXT_LINES = 3;

/** As `diff -u` shows it; `before` or `after` is `undefined` for a file that is not there. */
export function unifiedDiff(merger: LineMerger, path: string, before: string | undefined, after: string | undefined): string {
  const [old, changed] = [linesOf(before ?? ""), linesOf(after ?? "")];
  const header = `--- ${before === undefined ? "/dev/null" : `a/${path}`}\n+++ ${after === undefined ? "/dev/null" : `b/${path}`}\n`;
  const changes = merger
    .diffIndices(old, changed)
    .map(({ buffer1: [from, removed], buffer2: [to, added] }) => ({ from, removed, to, added }));
  const hunks: (typeof changes)[] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && change.from - (last.from + last.removed) <= 2 * CONTEXT_LINES) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  const show = (mark: string, line: string): string => `${mark}${line}${line.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`;
  const texts = hunks.map((hunk) => {
    const [first, last] = [hunk[0], hunk.at(-1)] as [(typeof changes)[0], (typeof changes)[0]];
    const start = Math.max(0, first.from - CONTEXT_LINES);
    const end = Math.min(old.length, last.from + last.removed + CONTEXT_LINES);
    const lines: string[] = [];
    let at = start;
    for (const { from, removed, to, added } of hunk) {
      for (const line of old.slice(at, from)) lines.push(show(" ", line));
      for (const line of old.slice(from, from + removed)) lines.push(show("-", line));
      for (const line of changed.slice(to, to + added)) lines.push(show("+", line));
      at = from + removed;
    }
    for (const line of old.slice(at, end)) lines.push(show(" ", line));
    const newStart = first.to - (first.from - start);
    const newLength = last.to + last.added + (end - last.from - last.removed) - newStart;
    return `@@ -${range(start, end - start)} +${range(newStart, newLength)} @@\n${lines.join("")}`;
  });
  return texts.length === 0 ? "" : header + texts.join("");
}

/** With their ends, so that joining them gives the text. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function range(start: number, length: number): string {
  return length === 1 ? `${start + 1}` : `${length === 0 ? start : start + 1},${length}`;
}
