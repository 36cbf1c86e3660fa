/**
 * A compiled glob over paths relative to where a search starts. `*` and `?` stay within a name, `**` spans folders,
 * `[a-z]` and `[!a-z]` are classes, `{a,b}` alternatives, `\` takes the next character as it stands. Names that begin
 * with a dot are names like any other. Matching takes time proportional to pattern times path, whatever the pattern.
 */
export interface GlobPattern {
  matches(path: string): boolean;
  /** False when nothing below this folder can match, so that a walk may leave it out. `""` is the start. */
  mayMatchBelow(folder: string): boolean;
}

type Token =
  | { readonly type: "star" }
  | { readonly type: "any" }
  | { readonly type: "character"; readonly character: string }
  | { readonly type: "class"; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };
type Segment = "globstar" | readonly Token[];

// More alternatives than anyone writes by hand, few enough to try each.
const MAX_ALTERNATIVES = 1024;

/** Throws a `RangeError` when the pattern has too many alternatives. */
export function compileGlob(pattern: string): GlobPattern {
  const alternatives = expandBraces(pattern.startsWith("./") ? pattern.slice(2) : pattern).map((alternative) =>
    splitSegments(alternative).map((segment): Segment => (segment === "**" ? "globstar" : tokenize(segment))),
  );
  return {
    matches: (path) => {
      const names = path.split("/");
      return alternatives.some((segments) => matchSegments(segments, names));
    },
    mayMatchBelow: (folder) => {
      const names = folder === "" ? [] : folder.split("/");
      return alternatives.some((segments) => mayContinue(segments, names));
    },
  };
}

function expandBraces(pattern: string): string[] {
  const results: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = firstGroup(next);
    if (group === undefined) results.push(next);
    else
      for (let index = group.options.length - 1; index >= 0; index--)
        pending.push(next.slice(0, group.start) + group.options[index] + next.slice(group.end));
    if (results.length + pending.length > MAX_ALTERNATIVES)
      throw new RangeError(`The glob pattern has more than ${MAX_ALTERNATIVES} alternatives; use fewer braces.`);
  }
  return results;
}

/** The first balanced group with a comma at its own level; `{x}` and a lone brace are text. */
function firstGroup(pattern: string): { start: number; end: number; options: string[] } | undefined {
  for (let start = skipTo(pattern, 0, "{"); start !== -1; start = skipTo(pattern, start + 1, "{")) {
    const options: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < pattern.length; at++) {
      const character = pattern[at];
      if (character === "\\") at++;
      else if (character === "{") depth++;
      else if (character === "," && depth === 1) {
        options.push(pattern.slice(from, at));
        from = at + 1;
      } else if (character === "}" && --depth === 0) {
        if (options.length === 0) break;
        options.push(pattern.slice(from, at));
        return { start, end: at + 1, options };
      }
    }
  }
  return undefined;
}

function skipTo(pattern: string, from: number, wanted: string): number {
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === wanted) return at;
  }
  return -1;
}

/** Several `**` in a row mean what one means, and cost what one costs. */
function splitSegments(pattern: string): string[] {
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.filter((segment, index) => !(segment === "**" && segments[index - 1] === "**"));
}

function tokenize(segment: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...segment];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === "*") {
      if (tokens.at(-1)?.type !== "star") tokens.push({ type: "star" });
    } else if (character === "?") tokens.push({ type: "any" });
    else if (character === "\\" && at + 1 < characters.length) tokens.push({ type: "character", character: characters[++at] as string });
    else if (character === "[") {
      const parsed = parseClass(characters, at);
      if (parsed === undefined) tokens.push({ type: "character", character });
      else {
        tokens.push(parsed.token);
        at = parsed.end;
      }
    } else tokens.push({ type: "character", character });
  }
  return tokens;
}

function parseClass(characters: readonly string[], start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const negated = characters[at] === "!" || characters[at] === "^";
  if (negated) at++;
  const ranges: [string, string][] = [];
  for (const first = at; at < characters.length; at++) {
    let character = characters[at] as string;
    if (character === "]" && at > first) return { token: { type: "class", negated, ranges }, end: at };
    if (character === "\\" && at + 1 < characters.length) character = characters[++at] as string;
    const end = characters[at + 1] === "-" ? characters[at + 2] : undefined;
    if (end !== undefined && end !== "]") {
      ranges.push([character, end]);
      at += 2;
    } else ranges.push([character, character]);
  }
  return undefined; // never closed: a bracket is a bracket
}

/** Remembers only the last `**` to come back to: an earlier one can never match more than the last one can. */
function matchSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  let segmentAt = 0;
  let nameAt = 0;
  let globstarAt = -1;
  let retryAt = 0;
  while (nameAt < names.length) {
    const segment = segments[segmentAt];
    if (segment === "globstar") {
      globstarAt = segmentAt++;
      retryAt = nameAt;
    } else if (segment !== undefined && matchName(segment, names[nameAt] as string)) {
      segmentAt++;
      nameAt++;
    } else if (globstarAt !== -1) {
      segmentAt = globstarAt + 1;
      nameAt = ++retryAt;
    } else return false;
  }
  // `a/**` is what lies below `a`, not `a` itself.
  return segmentAt === segments.length;
}

function matchName(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  let tokenAt = 0;
  let at = 0;
  let starAt = -1;
  let retryAt = 0;
  while (at < characters.length) {
    const token = tokens[tokenAt];
    if (token?.type === "star") {
      starAt = tokenAt++;
      retryAt = at;
    } else if (token !== undefined && matchCharacter(token, characters[at] as string)) {
      tokenAt++;
      at++;
    } else if (starAt !== -1) {
      tokenAt = starAt + 1;
      at = ++retryAt;
    } else return false;
  }
  while (tokens[tokenAt]?.type === "star") tokenAt++;
  return tokenAt === tokens.length;
}

function matchCharacter(token: Token, character: string): boolean {
  if (token.type === "character") return token.character === character;
  if (token.type === "class") return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.negated;
  return token.type === "any";
}

function mayContinue(segments: readonly Segment[], names: readonly string[]): boolean {
  for (const [index, name] of names.entries()) {
    const segment = segments[index];
    if (segment === "globstar") return true;
    if (segment === undefined || !matchName(segment, name)) return false;
  }
  return segments.length > names.length;
}
