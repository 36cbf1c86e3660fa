/** An old and a new text, and the decoration that was taken off both. */
export interface TextPair {
  readonly old: string;
  readonly wanted: string;
  /** Names of the decorations for people, in the order in which they were taken off. */
  readonly without: readonly string[];
  /** True if the old text now begins, or ends, with a whole line. */
  readonly startsLine: boolean;
  readonly endsLine: boolean;
}

type Undecorate = (pair: TextPair) => (Partial<TextPair> & { readonly old: string; readonly wanted: string }) | undefined;
const WHOLE_LINES = { startsLine: true, endsLine: true };

const DECORATIONS: readonly (readonly [name: string, undecorate: Undecorate])[] = [
  ["code fences", withoutFences],
  ["line numbers", withoutLineNumbers],
  ["HTML entities", withoutEntities],
  ["escapes of JSON", withoutEscapes],
  ["blank lines at the ends", withoutBlankEnds],
];

/** Returns the pairs that are left when what models put around texts of files is taken off, least changed first. The given pair is not among them. */
export function undecorate(old: string, wanted: string): readonly TextPair[] {
  const pairs: TextPair[] = [{ old, wanted, without: [], startsLine: false, endsLine: false }];
  for (const [name, take] of DECORATIONS)
    for (const pair of [...pairs]) {
      const taken = take(pair);
      if (taken !== undefined && taken.old.trim() !== "") pairs.push({ ...pair, ...taken, without: [...pair.without, name] });
    }
  return pairs.slice(1);
}

const OPENING = /^\s*(```|~~~)[^\n]*\n/;

function withoutFences({ old, wanted }: TextPair): ReturnType<Undecorate> {
  const inner = (text: string): string | undefined => {
    const fence = OPENING.exec(text)?.[1];
    if (fence === undefined) return undefined;
    const body = text.trimEnd();
    return body.endsWith(`\n${fence}`) ? body.slice((OPENING.exec(text) as RegExpExecArray)[0].length, -fence.length - 1) : undefined;
  };
  const bare = inner(old);
  return bare === undefined ? undefined : { old: bare, wanted: inner(wanted) ?? wanted, ...WHOLE_LINES };
}

const NUMBERED: readonly RegExp[] = [/^ *L?(\d+)(?:\t|→|\u2502 ?)/, /^ *L?(\d+) ?\| /, /^ *L?(\d+) ?\|/, /^ *L?(\d+): /, /^ *L?(\d+):/];

/** Numbers that go up by one, line by line, are no text of a file. */
function withoutLineNumbers({ old, wanted }: TextPair): ReturnType<Undecorate> {
  for (const pattern of NUMBERED) {
    const lines = old.split("\n");
    if (!lines.some((line) => pattern.test(line))) continue;
    const numbers = lines.map((line) => pattern.exec(line)?.[1]);
    const isLast = (index: number): boolean => index === lines.length - 1;
    const first = Number(numbers[0]);
    if (!numbers.every((number, index) => Number(number) === first + index || (lines[index] === "" && isLast(index)))) continue;
    const strip = (text: string): string =>
      text
        .split("\n")
        .map((line) => (blankNumber(line, pattern) ? "" : line.replace(pattern, "")))
        .join("\n");
    const given = wanted.split("\n").filter((line) => line.trim() !== "");
    const numbered = given.filter((line) => pattern.test(line) || blankNumber(line, pattern));
    if (numbered.length !== 0 && numbered.length !== given.length) return undefined;
    return { old: strip(old), wanted: numbered.length === 0 ? wanted : strip(wanted), ...WHOLE_LINES };
  }
  return undefined;
}

/** True for a blank line with a number, but without the blank that separates it. */
function blankNumber(line: string, pattern: RegExp): boolean {
  return !pattern.test(line) && /^ *L?\d+\s*[|:→\u2502]?\s*$/.test(line);
}

const ENTITIES: { readonly [entity: string]: string } = {
  "lt": "<",
  "gt": ">",
  "amp": "&",
  "quot": '"',
  "#39": "'",
  "apos": "'",
  "#x27": "'",
  "nbsp": "\u00a0",
};
const ENTITY = /&(lt|gt|amp|quot|#39|apos|#x27|nbsp);/g;

/** Both texts must be escaped throughout: with a bare `<` in one of them, an entity is text. */
function withoutEntities({ old, wanted }: TextPair): { old: string; wanted: string } | undefined {
  if (old.search(ENTITY) === -1 || !isEscaped(old) || !isEscaped(wanted)) return undefined;
  const plain = (text: string): string => text.replace(ENTITY, (_, name: string) => ENTITIES[name] as string);
  return { old: plain(old), wanted: plain(wanted) };
}

function isEscaped(text: string): boolean {
  return !/[<>]/.test(text) && !text.replace(ENTITY, "").includes("&");
}

/** Texts that were written as JSON twice: `\n` is a line end in both of them. */
function withoutEscapes({ old, wanted }: TextPair): { old: string; wanted: string } | undefined {
  if (!/\\[nt"]/.test(old)) return undefined;
  // With escaped quotes or backslashes all of the text is the inner part of a text of JSON.
  const plain = /\\["\\]/.test(old) ? unescapeJson : unescapeLineEnds;
  const [plainOld, plainWanted] = [plain(old), plain(wanted)];
  return plainOld === undefined || plainWanted === undefined ? undefined : { old: plainOld, wanted: plainWanted };
}

function unescapeJson(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

/** An escape between quotes or slashes may be text of the program. */
function unescapeLineEnds(text: string): string | undefined {
  if (/[\n\t]|\\[^nt]|\\$/.test(text)) return undefined;
  const plain = text.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
  return plain.split("\n").every((line) => ['"', "'", "`", "/"].every((quote) => (line.split(quote).length - 1) % 2 === 0))
    ? plain
    : undefined;
}

function withoutBlankEnds({ old, wanted, startsLine, endsLine }: TextPair): ReturnType<Undecorate> {
  const [head, tail] = [/^[ \t]*\n/, /\n[ \t]*$/];
  let [from, to] = [old, wanted];
  for (const blank of [head, tail])
    while (blank.test(from)) {
      from = from.replace(blank, "");
      to = to.replace(blank, "");
    }
  if (from === old) return undefined;
  return { old: from, wanted: to, startsLine: startsLine || head.test(old), endsLine: endsLine || tail.test(old) };
}
