/** Lines that wait to be written, in order. */
export interface FinishedLines {
  add(lines: readonly string[]): void;
  /** @returns all lines that wait */
  take(): readonly string[];
  /** Length of the lines that wait, in UTF-16 units. */
  readonly length: number;
  /** True if the line before the next one is empty, or if there is none. */
  readonly isAfterEmptyLine: boolean;
}

export function createFinishedLines(): FinishedLines {
  let lines: string[] = [];
  let length = 0;
  let isAfterEmptyLine = true;
  return {
    add(added) {
      for (const line of added) {
        lines.push(line);
        length += line.length + 1;
      }
      if (added.length > 0) isAfterEmptyLine = added.at(-1) === "";
    },
    take() {
      const taken = lines;
      lines = [];
      length = 0;
      return taken;
    },
    get length() {
      return length;
    },
    get isAfterEmptyLine() {
      return isAfterEmptyLine;
    },
  };
}
