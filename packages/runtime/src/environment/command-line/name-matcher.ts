/** A part of a pattern: a star, any one character, or these characters in either case. */
type Token = "*" | "?" | { readonly text: string };

/**
 * Returns a test for names that a segment of a pattern may match. It takes what it does not know for a star, so that it finds too many names
 * and never too few. A name that begins with a dot is only found if the segment begins with one, or with `findsHidden`.
 */
export function nameMatcher(segment: string, findsHidden: boolean = false): (name: string) => boolean {
  const isHidden = findsHidden || segment.startsWith(".");
  const tokens = /[@+!?*]\(/.test(segment) ? (["*"] as const) : tokensOf(segment);
  return (name) => (isHidden || !name.startsWith(".")) && matches(tokens, [...name.toLowerCase()]);
}

function tokensOf(segment: string): readonly Token[] {
  return [...segment.toLowerCase().matchAll(/\\([^])|\*+|\?|\[[!^]?\]?[^\]]*\]|[^]/gu)].map(([part, escaped]): Token => {
    if (escaped !== undefined) return { text: escaped };
    if (part.startsWith("*")) return "*";
    return part === "?" || (part.startsWith("[") && part.length > 1) ? "?" : { text: part };
  });
}

/** Takes as many steps as both are long, multiplied: it goes back to the last star alone. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let star = -1;
  let from = 0;
  for (let at = 0; at < name.length;) {
    const wanted = tokens[token];
    if (wanted === "*") {
      star = token++;
      from = at;
    } else if (wanted === "?" || (wanted !== undefined && wanted.text === name[at])) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++from;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === "*");
}
