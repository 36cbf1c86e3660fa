/** A match in a text. */
export interface SearchMatch {
  readonly start: number;
  readonly end: number;
  /** The text that takes its place. */
  readonly text: string;
}

/** Finds the matches of a search in a text with line feeds as line ends. Throws `SearchTooSlow` if that takes too long. */
export type Search = (text: string) => Iterable<SearchMatch>;

export interface SearchOptions {
  readonly search: string;
  readonly replace: string;
  readonly isRegex: boolean;
  readonly ignoresCase: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly limitMs: number;
}

/** A search was stopped, because it took too long. */
export class SearchTooSlow extends Error {
  override readonly name = "SearchTooSlow";
}

/** A pattern or a replacement cannot be used; the message says why. */
export class UnusableSearch extends Error {
  override readonly name = "UnusableSearch";
}

/**
 * Compiles a search. Regular expressions have the syntax of RE2: their time is proportional to the length of the text, and what would take longer
 * (backreferences, looking around) is refused.
 */
export async function compileSearch({ search, replace, isRegex, ignoresCase, now, limitMs }: SearchOptions): Promise<Search> {
  const { RE2JS } = await import("re2js");
  const source = isRegex ? search : search.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  const flags = RE2JS.MULTILINE | (ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  let pattern: InstanceType<typeof RE2JS>;
  try {
    pattern = RE2JS.compile(source, flags);
  } catch (error) {
    throw new UnusableSearch(
      `The regular expression cannot be used: ${error instanceof Error ? error.message : String(error)}. It has the syntax of RE2, without backreferences and lookarounds.`,
    );
  }
  const pieces = isRegex ? replacementPieces(replace, pattern.namedGroups(), pattern.matcher("").groupCount()) : [replace];
  const started = now();
  return function* find(text) {
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      if (now() - started > limitMs) throw new SearchTooSlow("The search took too long.");
      const replacement = pieces.map((piece) => (typeof piece === "string" ? piece : (matcher.group(piece) ?? ""))).join("");
      yield { start: matcher.start(), end: matcher.end(), text: replacement };
    }
  };
}

/** The parts of a replacement: texts, and numbers of groups. */
function replacementPieces(replace: string, named: { readonly [name: string]: number }, groups: number): readonly (string | number)[] {
  const pieces: (string | number)[] = [];
  let from = 0;
  const numberOf = (group: string): number => {
    const number = /^\d+$/.test(group) ? Number(group) : Object.hasOwn(named, group) ? named[group] : undefined;
    if (number === undefined || number > groups)
      throw new UnusableSearch(
        `The replacement names the group ${group}, which the regular expression does not have. Write $$ for a dollar sign.`,
      );
    return number;
  };
  for (const found of replace.matchAll(/\$(?:(\$)|(&)|(\d{1,2})|\{([^}]*)\}|<([^>]*)>)|\\(\d)/g)) {
    const [all, dollar, whole, number, braced, angled, escaped] = found;
    pieces.push(replace.slice(from, found.index));
    pieces.push(dollar !== undefined ? "$" : whole !== undefined ? 0 : numberOf((number ?? braced ?? angled ?? escaped) as string));
    from = found.index + all.length;
  }
  pieces.push(replace.slice(from));
  return pieces;
}
