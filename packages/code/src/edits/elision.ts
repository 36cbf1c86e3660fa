const WORDS =
  "existing|rest|remaining|unchanged|same|previous|other|omitted|more|keep|code|implementation|content|unmodified|as before|etc";
const LEAD = String.raw`(?:\/\/|#|--|;|%|\/\*|<!--|\{\/\*)`;
const DOTS = String.raw`\[?(?:\.{3}|…)\]?`;
const CLOSE = String.raw`(?:\*\/\}?|-->)?`;
const PARTS = String.raw`rest of (?:the |your |this )?(?:code|file|function|class|method|component|implementation)|(?:existing|remaining|other|previous|unchanged) (?:code|implementation|methods|functions|imports)`;
// A spread such as `...rest` has no blank behind its dots.
const ELISIONS: readonly RegExp[] = [
  new RegExp(String.raw`^\s*(?:${LEAD}\s*${DOTS}|${DOTS}\s)[^\n]*\b(?:${WORDS})\b`, "i"),
  new RegExp(String.raw`^\s*${LEAD}\W*(?:${PARTS})\b[^\n]*(?:\.{3}|…|unchanged|here|same|as is|as before)\W*${CLOSE}\s*$`, "i"),
];
const BARE = new RegExp(String.raw`^\s*(?:${LEAD}\s*)?${DOTS}\s*${CLOSE}\s*$`);

/** True if a line is a placeholder for code, such as `// ... existing code ...`. */
export function isElision(line: string): boolean {
  return ELISIONS.some((pattern) => pattern.test(line));
}

/** True if a line is an ellipsis and nothing else, alone or in a comment. */
export function isBareEllipsis(line: string): boolean {
  return BARE.test(line);
}

/** The first line, from 0, of an old text that may be a placeholder for code. */
export function elisionIn(text: string): number | undefined {
  const line = text.split("\n").findIndex((each) => isElision(each) || isBareEllipsis(each));
  return line === -1 ? undefined : line;
}

/**
 * The first line of a new text that would replace code by a placeholder. Lines of the replaced text are text of the file. An ellipsis without
 * a word counts only if the new text has fewer lines: it may be a text of its own.
 */
export function elisionPutIn(old: string, wanted: string): string | undefined {
  const before = old.split("\n").map((line) => line.trim());
  const after = wanted.split("\n");
  const isShorter = after.filter((line) => line.trim() !== "").length < before.filter((line) => line !== "").length;
  return after.find(
    (line) => (isElision(line) || (isShorter && isBareEllipsis(line) && !/^\s*\.{3}\s*$/.test(line))) && !before.includes(line.trim()),
  );
}
