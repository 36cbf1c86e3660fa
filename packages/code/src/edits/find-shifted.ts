import { alignLines } from "./align-lines.ts";
import { type IndentedLine, indentedLine } from "./indented-line.ts";
import { type IndentMap, learnIndent } from "./learn-indent.ts";

/** A block of a file that an old text is about. */
export interface FoundBlock {
  /** The first line, from 0. */
  readonly at: number;
  /** The old and the new lines, in the form of an exact copy of the file. */
  readonly old: readonly string[];
  readonly wanted: readonly string[];
}

/** Finds the places of the lines of a block with other indentation. */
export function shiftedPlaces(lines: readonly IndentedLine[], old: readonly string[]): readonly number[] {
  const given = old.map(indentedLine);
  if (given.every(({ rest }) => rest === "")) return [];
  const places: number[] = [];
  for (let at = 0; at + given.length <= lines.length; at++)
    if (given.every(({ rest }, index) => lines[at + index]?.rest === rest)) places.push(at);
  return places;
}

/**
 * Returns the block at a place, with the new lines indented as the file is.
 * `undefined` if the block there was not shifted as a whole, or if it does not show the indentation of new lines.
 */
export function shiftedBlock(
  lines: readonly IndentedLine[],
  at: number,
  old: readonly string[],
  wanted: readonly string[],
): FoundBlock | undefined {
  return shiftBlock(at, lines.slice(at, at + old.length), { old, given: old.map(indentedLine), wanted });
}

function shiftBlock(
  at: number,
  there: readonly IndentedLine[],
  { old, given, wanted }: { readonly old: readonly string[]; readonly given: readonly IndentedLine[]; readonly wanted: readonly string[] },
): FoundBlock | undefined {
  const pairs = given.flatMap(({ indent, rest }, index) => (rest === "" ? [] : [[indent, (there[index] as IndentedLine).indent] as const]));
  const first = given.findIndex(({ rest }) => rest !== "");
  let map = learnIndent(pairs);
  // A model that copies from the middle of a line leaves out the indentation of the first line only.
  const isFirstBare =
    map === undefined && given[first]?.indent === "" && wanted.find((line) => line.trim() !== "")?.startsWith(" ") !== true;
  if (isFirstBare) map = learnIndent(pairs.slice(1));
  if (map === undefined) return undefined;
  const asked = wanted.map(indentedLine);
  const frame = frameOf(given, asked, there);
  if (frame === undefined) return undefined;
  const firstAsked = asked.findIndex(({ rest }) => rest !== "");
  const move = (line: string, indent: string | undefined): string | undefined =>
    line.trim() === "" ? "" : indent === undefined ? undefined : indent + line.slice(/^[ \t]*/.exec(line)?.[0].length);
  const moved = wanted.map((line, index) => {
    const { indent } = asked[index] as IndentedLine;
    if (frame === "file") return line;
    if (isFirstBare && index === firstAsked && indent === "") return move(line, there[first]?.indent);
    return move(line, (map as IndentMap)(indent));
  });
  if (moved.some((line) => line === undefined)) return undefined;
  const copied = old.map((line, index) => move(line, (there[index] as IndentedLine).indent) as string);
  return { at, old: copied, wanted: moved as string[] };
}

/**
 * Returns `given` if the new lines are indented like the old ones, and `file` if they are indented like the file. `undefined` if neither.
 */
function frameOf(
  given: readonly IndentedLine[],
  asked: readonly IndentedLine[],
  there: readonly IndentedLine[],
): "given" | "file" | undefined {
  const pairs = alignLines(
    given.map(({ rest }) => rest),
    asked.map(({ rest }) => rest),
  ).filter(([before]) => given[before]?.rest !== "");
  if (pairs.length > 0) {
    const isLike = (lines: readonly IndentedLine[]): boolean =>
      pairs.every(([before, after]) => lines[before]?.indent === asked[after]?.indent);
    return !isLike(given) && isLike(there) ? "file" : "given";
  }
  const first = asked.find(({ rest }) => rest !== "")?.indent;
  const index = given.findIndex(({ rest }) => rest !== "");
  if (first === undefined || first === given[index]?.indent) return "given";
  return first === there[index]?.indent ? "file" : undefined;
}
