const CONTEXT_LINES = 2;
const MAX_LINES = 60;
const MAX_LINE_CHARACTERS = 200;
// Comparing long unlike texts takes quadratic time; beyond this many changed lines the diff says so instead.
const MAX_EDIT_LENGTH = 2000;

/** What changed between two texts, as a short unified diff with line numbers. */
export async function compactDiff(before: string, after: string): Promise<string> {
  const { structuredPatch } = await import("diff");
  const { old, now, linesBefore } = unlikePart(before, after);
  const patch = structuredPatch("", "", old, now, "", "", { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH });
  if (patch === undefined) return `[Most of the file changed: ${countLines(before)} lines became ${countLines(after)}.]`;
  const lines: string[] = [];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of patch.hunks) {
    lines.push(
      `@@ -${range(linesBefore + oldStart, oldLines)} +${range(linesBefore + newStart, newLines)} @@`,
      ...changed.filter((line) => !line.startsWith("\\")).map(shorten),
    );
  }
  const more = lines.length - MAX_LINES;
  return (more > 0 ? [...lines.slice(0, MAX_LINES), `[... ${more} more lines of diff ...]`] : lines).join("\n");
}

/**
 * Returns two texts without the lines that both begin and end with, except for those that a diff shows around a change. Comparing a whole file of 17 MB took
 * 350 ms, in which nobody could stop the agent; this takes 50.
 */
function unlikePart(before: string, after: string): { readonly old: string; readonly now: string; readonly linesBefore: number } {
  const shorter = Math.min(before.length, after.length);
  let alike = 0;
  while (alike < shorter && before.charCodeAt(alike) === after.charCodeAt(alike)) alike++;
  let start = alike;
  for (let lines = 0; lines <= CONTEXT_LINES && start > 0; lines++) start = start < 2 ? 0 : before.lastIndexOf("\n", start - 2) + 1;
  const most = shorter - start;
  let tail = 0;
  while (tail < most && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail++;
  let end = before.length - tail;
  for (let lines = 0; lines <= CONTEXT_LINES && end < before.length; lines++) end = lineEnd(before, end);
  const cut = before.length - end;
  return {
    old: before.slice(start, end),
    now: after.slice(start, after.length - cut),
    linesBefore: countLines(before.slice(0, start)) - 1,
  };
}

/** An empty range is named by the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** Returns where the line after the one at a place begins. */
function lineEnd(text: string, from: number): number {
  const found = text.indexOf("\n", from);
  return found < 0 ? text.length : found + 1;
}

function shorten(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}…` : text;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
