export interface TruncatedText {
  /** At most `maxBytes` of UTF-8. It shares no memory with a longer original. */
  readonly text: string;
  readonly truncated: boolean;
}

/**
 * Keeps the head and the tail of a text that is too long in UTF-8, with `[... N lines omitted ...]` between them. Cuts at
 * ends of lines where there are any nearby, and never inside a character.
 */
export function truncateText(text: string, maxBytes: number): TruncatedText {
  if (fits(text, maxBytes)) return { text, truncated: false };
  // The marker's own room, with a count as long as it can get.
  const budget = maxBytes - MARKER_BYTES - String(text.length).length;
  if (budget < 16) return { text: headOf(text, maxBytes, false), truncated: true };
  const head = headOf(text, budget - Math.floor(budget / 2), true);
  const tail = tailOf(text, Math.floor(budget / 2));
  const omitted = text.slice(head.length, text.length - tail.length);
  return {
    text: `${head}${head.endsWith("\n") ? "" : "\n"}${describeOmitted(omitted)}${tail.startsWith("\n") ? "" : "\n"}${tail}`,
    truncated: true,
  };
}

/** Two line breaks and the longest marker without its count. */
const MARKER_BYTES = "\n[... characters omitted ...]\n".length + 1;

function describeOmitted(omitted: string): string {
  const lines = countLines(omitted);
  // A cut inside one long line: lines would say nothing.
  return lines <= 1 ? `[... ${omitted.length} characters omitted ...]` : `[... ${lines} lines omitted ...]`;
}

function countLines(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function fits(text: string, maxBytes: number): boolean {
  // One UTF-16 unit is one to three bytes: most texts are decided without being measured.
  if (text.length > maxBytes) return false;
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;
}

function headOf(text: string, maxBytes: number, wholeLines: boolean): string {
  // A pair of surrogates that the slice tore apart becomes one foreign character, which always ends past `maxBytes`.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(bytes.length, maxBytes);
  // 10xxxxxx continues a character.
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  if (wholeLines) {
    const lineEnd = bytes.lastIndexOf(0x0a, end - 1);
    if (lineEnd >= end / 2) end = lineEnd + 1;
  }
  return bytes.toString("utf8", 0, end);
}

function tailOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  const lineEnd = bytes.indexOf(0x0a, start);
  if (lineEnd !== -1 && lineEnd + 1 < bytes.length && lineEnd - start <= (bytes.length - start) / 2) start = lineEnd + 1;
  return bytes.toString("utf8", start);
}
