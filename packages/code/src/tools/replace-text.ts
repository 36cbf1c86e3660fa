import { readContent, usesCrlf, withCrlf } from "./text-content.ts";

export interface TextReplacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}
export type Replaced =
  | { readonly kind: "replaced"; readonly content: Buffer; readonly count: number }
  | { readonly kind: "absent" }
  /** Where it occurs, as line numbers. */
  | { readonly kind: "ambiguous"; readonly lines: readonly number[] }
  | { readonly kind: "unsuitable"; readonly reason: string };

// Enough to decide whether a content can come of an edit; text with more occurrences is undecided.
const MAX_TRIED_PLACES = 100;
const MIN_TELLING_LENGTH = 16;

/**
 * Replaces exact text: its one occurrence, or all of them. Works on bytes, so that whatever is not touched stays as it
 * is. Models write LF: in a file with CR LF throughout, both texts are taken to have it too.
 */
export function replaceText(content: Uint8Array, replacement: TextReplacement): Replaced {
  const prepared = prepare(content, replacement);
  if (typeof prepared === "string") return { kind: "unsuitable", reason: prepared };
  const { source, old, replacementText } = prepared;
  const places = occurrences(source, old);
  if (places.length === 0) return { kind: "absent" };
  if (places.length > 1 && !replacement.replace_all) return { kind: "ambiguous", lines: lineNumbers(source, places) };
  const pieces: string[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(source.slice(from, place), replacementText);
    from = place + old.length;
  }
  pieces.push(source.slice(from));
  return { kind: "replaced", content: Buffer.from(pieces.join(""), "latin1"), count: places.length };
}

/**
 * Whether `content` is what the replacement leaves behind (`done`), what it still applies to (`not-done`), or could be
 * either. A content that the replacement would refuse counts as `not-done`: trying again does no harm.
 */
export function wasReplaced(content: Uint8Array, replacement: TextReplacement): "done" | "not-done" | "unknown" {
  const prepared = prepare(content, replacement);
  if (typeof prepared === "string") return "not-done";
  const { source, old, replacementText } = prepared;
  const olds = occurrences(source, old);
  if (replacementText === "") {
    if (olds.length === 0) return "done";
    // Deleting "ab" from "aabb" leaves "ab" behind. Longer text does not stand within itself by chance.
    return old.length < MIN_TELLING_LENGTH ? "unknown" : "not-done";
  }
  const news = occurrences(source, replacementText, 1);
  if (news.length > MAX_TRIED_PLACES) return "unknown";
  // It was done if putting the old text back somewhere gives a content that the replacement turns into this one. Whatever
  // of the old text is left after all of it was replaced, touches a replacement.
  const couldBeDone = replacement.replace_all
    ? news.length > 0 && olds.every((at) => news.some((place) => place < at + old.length && at < place + replacementText.length))
    : news.some((place) => occurrences(source.slice(0, place) + old + source.slice(place + replacementText.length), old).length === 1);
  if (!couldBeDone) return "not-done";
  return (replacement.replace_all ? olds.length > 0 : olds.length === 1) ? "unknown" : "done";
}

/** One character per byte in `source` and both texts. A string says why that is not possible. */
function prepare(
  content: Uint8Array,
  { old_string, new_string }: TextReplacement,
): { readonly source: string; readonly old: string; readonly replacementText: string } | string {
  const found = readContent(content);
  if (found.kind !== "text") return "it is not a text file";
  if (found.encoding === "utf-16le" || found.encoding === "utf-16be")
    return `it is ${found.encoding.toUpperCase()}, and only UTF-8 can be edited; convert it with a command first`;
  if (found.encoding === "latin1" && !isAscii(old_string + new_string))
    return "it is not UTF-8, so that only ASCII text can be replaced in it; convert it with a command first";
  const source = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1");
  const texts = (change: (text: string) => string) => ({
    source,
    old: bytewise(change(old_string)),
    replacementText: bytewise(change(new_string)),
  });
  const given = texts((text) => text);
  if (!source.includes("\r\n") || old_string.includes("\r\n")) return given;
  // In a file with both kinds of line ends, what is there decides.
  return usesCrlf(source) || !source.includes(given.old) ? texts(withCrlf) : given;
}

function bytewise(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(text);
}

/** Without a `step`, those that do not overlap. */
function occurrences(source: string, wanted: string, step: number = wanted.length): number[] {
  const places: number[] = [];
  for (let at = source.indexOf(wanted); at !== -1; at = source.indexOf(wanted, at + step)) places.push(at);
  return places;
}

function lineNumbers(source: string, places: readonly number[]): number[] {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const place of places) {
    for (let end = source.indexOf("\n", at); end !== -1 && end < place; end = source.indexOf("\n", at)) {
      line++;
      at = end + 1;
    }
    numbers.push(line);
  }
  return numbers;
}
