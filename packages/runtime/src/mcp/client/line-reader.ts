/** Cuts a stream of text into lines and bounds what it holds of one. */
export interface LineReader {
  /** @throws RangeError when a line is longer than it may be; nothing is read after that */
  push(text: string): readonly string[];
}

/** @param maxLength characters of a line: of UTF-8, which has at least as many bytes */
export function createLineReader(maxLength: number): LineReader {
  let parts: string[] = [];
  let length = 0;
  return {
    push(text) {
      const lines: string[] = [];
      let from = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
        check(length + end - from);
        lines.push(parts.join("") + text.slice(from, end).replace(/\r$/, ""));
        parts = [];
        length = 0;
        from = end + 1;
      }
      if (from < text.length) {
        check((length += text.length - from));
        parts.push(text.slice(from));
      }
      return lines;
    },
  };

  function check(size: number): void {
    if (size <= maxLength) return;
    parts = [];
    throw new RangeError(`A message of more than ${maxLength} characters`);
  }
}
