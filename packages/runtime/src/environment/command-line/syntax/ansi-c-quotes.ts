const SIMPLE_ESCAPES: { readonly [escape: string]: string } = {
  "a": "\u0007",
  "b": "\b",
  "e": "\u001b",
  "E": "\u001b",
  "f": "\f",
  "n": "\n",
  "r": "\r",
  "t": "\t",
  "v": "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};
const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([^]))/g;

/** The text of `$'…'`, or `undefined` if it depends on the character set or ends the word in C. */
export function decodeAnsiCQuotes(text: string): string | undefined {
  let isClear = true;
  const decoded = text.replace(ESCAPE, (_whole, hex?: string, octal?: string, short?: string, long?: string, simple?: string) => {
    if (simple !== undefined) {
      const character = SIMPLE_ESCAPES[simple];
      if (character === undefined) isClear = false;
      return character ?? simple;
    }
    const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
    if (code === 0 || code > 126) {
      isClear = false;
      return "";
    }
    return String.fromCodePoint(code);
  });
  return isClear ? decoded : undefined;
}
