import type { GrepMatch } from "@keelson/protocol";

const MAX_LINE_CHARACTERS = 500;

/**
 * Matches as lines `path:number:text`, and those around them as `path-number-text`, each once; `--` stands where lines were
 * passed over between them, when there are any around.
 */
export function matchedLines(matches: readonly GrepMatch[]): string[] {
  const shown: string[] = [];
  const hasContext = matches.some(({ before, after }) => before.length + after.length > 0);
  for (const [file, inFile] of Map.groupBy(matches, (match) => match.file)) {
    const lines = new Map<number, { readonly text: string; readonly matches: boolean }>();
    for (const { lineNumber, lineContent, before, after } of inFile) {
      const matched = lineContent.split("\n");
      const first = lineNumber - before.length;
      for (const [offset, text] of [...before, ...matched, ...after].entries()) {
        const isMatch = offset >= before.length && offset < before.length + matched.length;
        if (isMatch || !lines.has(first + offset)) lines.set(first + offset, { text, matches: isMatch });
      }
    }
    let previous: number | undefined;
    for (const number of [...lines.keys()].sort((a, b) => a - b)) {
      if (hasContext && shown.length > 0 && number - 1 !== previous) shown.push("--");
      const line = lines.get(number);
      if (line !== undefined) shown.push(line.matches ? `${file}:${number}:${cut(line.text)}` : `${file}-${number}-${cut(line.text)}`);
      previous = number;
    }
  }
  return shown;
}

function cut(line: string): string {
  return line.length <= MAX_LINE_CHARACTERS ? line : `${line.slice(0, MAX_LINE_CHARACTERS).toWellFormed()} [… omitted end of long line]`;
}
