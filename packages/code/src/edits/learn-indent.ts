/** Translates the indentation of a given line into that of the file. `undefined` if the pairs do not show it. */
export type IndentMap = (indent: string) => string | undefined;

/** Widths that people give a tab. */
const TAB_WIDTHS: readonly number[] = [2, 3, 4, 8];

/** Learns from pairs of given and actual indentations how a block was shifted. `undefined` if it was not shifted as a whole. */
export function learnIndent(pairs: readonly (readonly [given: string, actual: string])[]): IndentMap | undefined {
  const known = new Map<string, string>();
  for (const [given, actual] of pairs) {
    if ((known.get(given) ?? actual) !== actual) return undefined;
    known.set(given, actual);
  }
  // Two levels that became one have lost what they meant.
  if (new Set(known.values()).size !== known.size || known.size === 0) return undefined;
  const rule = prefixRule([...known]) ?? widthRule([...known]);
  if (rule === undefined && known.size > 1) return undefined;
  return (indent) => known.get(indent) ?? rule?.(indent);
}

/** The whole block has more, or less, at the beginning of each line. */
function prefixRule(known: readonly (readonly [given: string, actual: string])[]): IndentMap | undefined {
  const [[given, actual]] = known as [readonly [string, string]];
  if (actual.endsWith(given)) {
    const prefix = actual.slice(0, actual.length - given.length);
    if (known.every(([from, to]) => to === prefix + from)) return (indent) => (isMixed(prefix, indent) ? undefined : prefix + indent);
  }
  if (given.endsWith(actual)) {
    const prefix = given.slice(0, given.length - actual.length);
    if (known.every(([from, to]) => from === prefix + to))
      return (indent) => (indent.startsWith(prefix) ? indent.slice(prefix.length) : undefined);
  }
  return undefined;
}

function isMixed(first: string, second: string): boolean {
  return (first.includes("\t") && second.includes(" ")) || (first.includes(" ") && second.includes("\t"));
}

/** The steps of the indentation have another width, or are of tabs in the place of blanks. */
function widthRule(known: readonly (readonly [given: string, actual: string])[]): IndentMap | undefined {
  const given = oneKind(known.map(([from]) => from));
  const actual = oneKind(known.map(([, to]) => to));
  if (given === undefined || actual === undefined) return undefined;
  const [[from, to], other] = known as [readonly [string, string], (readonly [string, string])?];
  let ratio: number;
  if (other !== undefined) ratio = (to.length - other[1].length) / (from.length - other[0].length);
  else if (given !== actual && from.length > 0 && to.length > 0) {
    ratio = to.length / from.length;
    if (!TAB_WIDTHS.includes(Math.max(ratio, 1 / ratio))) return undefined;
  } else return undefined;
  const widthOf = (width: number): number => to.length + (width - from.length) * ratio;
  if (!(ratio > 0) || known.some(([one, another]) => widthOf(one.length) !== another.length)) return undefined;
  return (indent) => {
    if (indent !== "" && oneKind([indent]) !== given) return undefined;
    const width = widthOf(indent.length);
    return Number.isInteger(width) && width >= 0 ? actual.repeat(width) : undefined;
  };
}

/** The character that all indentations consist of: a blank or a tab. `undefined` if there are both, or none. */
function oneKind(indents: readonly string[]): " " | "\t" | undefined {
  const joined = indents.join("");
  if (joined === "") return undefined;
  return /^ +$/.test(joined) ? " " : /^\t+$/.test(joined) ? "\t" : undefined;
}
