// PostgreSQL's text holds every character but NUL. Names that hold one are written so that their order and their beginnings stay what
// they were: \u0000 as \u0001\u0001, \u0001 as \u0001\u0002. Others are written as they are, so that whoever looks at a table reads them.

export function storedName(name: string): string {
  // oxlint-disable-next-line no-control-regex
  return name.replaceAll(/[\u0000\u0001]/g, (character) => (character === "\u0000" ? "\u0001\u0001" : "\u0001\u0002"));
}

export function nameIn(stored: string): string {
  // oxlint-disable-next-line no-control-regex
  return stored.replaceAll(/\u0001([\u0001\u0002])/g, (_, second: string) => (second === "\u0001" ? "\u0000" : "\u0001"));
}

/** A list of texts as one, for a statement that casts it to `text[]`. */
export function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
