/**
 * Returns a test for names that a segment of a pattern may match. It takes what it does not know for a star, so that it finds too many names
 * and never too few. A name that begins with a dot is only found if the segment begins with one, or with `findsHidden`.
 */
export function nameMatcher(segment: string, findsHidden: boolean = false): (name: string) => boolean {
  const isHidden = findsHidden || segment.startsWith(".");
  if (/[@+!?*]\(/.test(segment)) return (name) => isHidden || !name.startsWith(".");
  const source = segment.replace(/\\([^])|\*+|\?|\[[!^]?\]?[^\]]*\]|[^]/g, (part, escaped: string | undefined) => {
    if (escaped !== undefined) return quoted(escaped);
    if (part.startsWith("*")) return "[^]*";
    if (part === "?" || (part.startsWith("[") && part.length > 1)) return "[^]{1,2}";
    return quoted(part);
  });
  const pattern = new RegExp(`^${source}$`, "i");
  return (name) => (isHidden || !name.startsWith(".")) && pattern.test(name);
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
