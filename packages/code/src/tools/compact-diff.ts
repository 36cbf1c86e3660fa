const CONTEXT_LINES = 2;
const MAX_LINES = 60;
const MAX_LINE_CHARACTERS = 200;
// Comparing long unlike texts takes quadratic time; beyond this many changed lines the diff says so instead.
const MAX_EDIT_LENGTH = 2000;

/** What changed between two texts, as a short unified diff with line numbers. */
export async function compactDiff(before: string, after: string): Promise<string> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", before, after, "", "", { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH });
  if (patch === undefined) return `[Most of the file changed: ${countLines(before)} lines became ${countLines(after)}.]`;
  const lines: string[] = [];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of patch.hunks) {
    lines.push(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...changed.filter((line) => !line.startsWith("\\")).map(shorten));
  }
  const more = lines.length - MAX_LINES;
  return (more > 0 ? [...lines.slice(0, MAX_LINES), `[... ${more} more lines of diff ...]`] : lines).join("\n");
}

function shorten(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}…` : text;
}

function countLines(text: string): number {
  return text.split("\n").length;
}
