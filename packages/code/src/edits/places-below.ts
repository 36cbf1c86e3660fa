import { indentedLine } from "./indented-line.ts";
import type { HunkPlace } from "./find-hunk.ts";
import type { SearchedText } from "./place-edit.ts";

/** Returns those of several places in the block below the last header of a hunk. */
export function placesBelow(searched: SearchedText, headers: readonly string[], places: readonly HunkPlace[]): readonly HunkPlace[] {
  let heads: readonly number[] | undefined;
  for (const header of headers) {
    const all = headLines(searched, header);
    const above: readonly number[] | undefined = heads;
    const inside = above && all.filter((line) => above.some((head) => isInBlock(searched, head, line, line)));
    heads =
      above === undefined
        ? all
        : inside !== undefined && inside.length > 0
          ? inside
          : all.filter((line) => above.some((head) => head < line));
  }
  const found = heads ?? [];
  return places.filter(({ at, length }) => found.some((head) => isInBlock(searched, head, at, at + length - 1)));
}

/** The lines, from 0, that a header is about: equal to it, else beginning with it, else containing it. */
function headLines({ lines }: SearchedText, header: string): readonly number[] {
  const wanted = indentedLine(header).rest;
  const rests = lines.map((line) => indentedLine(line).rest);
  for (const isLike of [
    (rest: string) => rest === wanted,
    (rest: string) => rest.startsWith(wanted),
    (rest: string) => rest.includes(wanted),
  ]) {
    const found = rests.flatMap((rest, index) => (isLike(rest) ? [index] : []));
    if (found.length > 0) return found;
  }
  return [];
}

/** True if lines belong to the block below a head: they, and all between, are indented more than the head, or close its brackets. */
function isInBlock(searched: SearchedText, head: number, first: number, last: number): boolean {
  const lines = searched.indented();
  if (first < head || last < head) return false;
  const depth = lines[head]?.indent.length ?? 0;
  for (let line = head + 1; line <= last; line++) {
    const { indent, rest } = lines[line] ?? { indent: "", rest: "" };
    if (rest === "" || indent.length > depth) continue;
    // Brackets at the end of the block, and those that begin it on a line of their own.
    if (indent.length === depth && /^[)\]]/.test(rest)) continue;
    if (indent.length === depth && /^[}>;,{]/.test(rest) && line >= first) continue;
    if (indent.length === depth && line === head + 1 && /^[{(]/.test(rest)) continue;
    return false;
  }
  return true;
}
