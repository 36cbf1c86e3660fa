const DELIMITER = /(?:([\w.:@%+,/=-]+)|'([^'\n]*)'|"([^"\n\\$`]*)"|\\([\w.:@%+,/=-]+))(?=[ \t\n|&;<>()])/y;

/** The word after `<<`. */
export interface HereDocumentStart {
  /** The word as it is written. */
  readonly written: string;
  readonly delimiter: string;
  /** True if nothing in the text is expanded. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

/** Reads the word after `<<`, or `undefined` if it mixes quotes. */
export function readDelimiter(source: string, at: number, stripsTabs: boolean): HereDocumentStart | undefined {
  DELIMITER.lastIndex = at;
  const found = DELIMITER.exec(source);
  if (found === null) return undefined;
  const [written, plain, single, double, escaped] = found;
  const delimiter = plain ?? single ?? double ?? escaped ?? "";
  return { written, delimiter, isQuoted: plain === undefined, stripsTabs };
}

/** The text of a here-document that begins at `start`, and the position behind its last line. `undefined` if its end is not clear. */
export function readDocument(source: string, start: number, document: HereDocumentStart): { text: string; end: number } | undefined {
  for (let at = start; at <= source.length;) {
    const next = source.indexOf("\n", at);
    const line = source.slice(at, next < 0 ? source.length : next);
    if ((document.stripsTabs ? line.replace(/^\t+/, "") : line) === document.delimiter)
      return { text: source.slice(start, at), end: at + line.length };
    // Bash joins such a line with the next one before it looks for the end.
    if (!document.isQuoted && /(?:^|[^\\])(?:\\\\)*\\$/.test(line)) return undefined;
    if (next < 0) return undefined;
    at = next + 1;
  }
  return undefined;
}
