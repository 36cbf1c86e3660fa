/** An output of which only a part was shown. */
export interface FoldedOutput {
  /** Counts up from 1 and is shown where the output was folded. */
  readonly number: number;
  readonly title: string;
  readonly lines: readonly string[];
}

/** The last outputs that were folded, so that a person can open them. */
export interface FoldedOutputs {
  /** Keeps lines, which are safe for a terminal. @returns their number */
  keep(title: string, lines: readonly string[]): number;
  /** Returns the output of a number, the last one by default; `undefined` if it is not kept. */
  open(number?: number): FoldedOutput | undefined;
}

const MAX_OUTPUTS = 20;
const MAX_LENGTH = 1024 * 1024;

export function createFoldedOutputs(): FoldedOutputs {
  const kept: FoldedOutput[] = [];
  let count = 0;
  return {
    keep(title, lines) {
      count += 1;
      kept.push({ number: count, title, lines: bounded(lines) });
      if (kept.length > MAX_OUTPUTS) kept.shift();
      return count;
    },
    open: (number) => (number === undefined ? kept.at(-1) : kept.find((output) => output.number === number)),
  };
}

/** The lines that fit; a line says where the others are. */
function bounded(lines: readonly string[]): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line) => (length += line.length + 1) > MAX_LENGTH);
  if (end < 0) return lines;
  const [cut = ""] = lines.slice(end);
  const room = MAX_LENGTH - (length - cut.length - 1);
  return [
    ...lines.slice(0, end),
    cut.slice(0, room).toWellFormed(),
    `… ${lines.length - end - 1} more lines beyond 1 MB; the session keeps all of them: keelson sessions show <id> --json`,
  ];
}
