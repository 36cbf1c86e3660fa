/**
 * True if engines other than ECMAScript's compile the regular expression, too: no lookaround, named groups, references to groups,
 * classes of Unicode, or counts above 1000.
 */
export function isPortablePattern(pattern: string): boolean {
  const bare = pattern.replaceAll("\\\\", "");
  if (/\(\?(?!:)|\\[1-9kpPc]|\\u\{|\[\^?\]/.test(bare)) return false;
  for (const [, from = "", to = ""] of bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) if (Number(from) > 1000 || Number(to) > 1000) return false;
  return true;
}
