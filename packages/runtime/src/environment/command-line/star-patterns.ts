/** Returns a pattern in which a star stands for any text, and which is this text alone. */
export function literalPattern(text: string): string {
  return text.replace(/[\\*]/g, "\\$&");
}

/** Returns the pattern of a word with wildcards, classes and braces of the shell: a star for each of them. */
export function starPattern(text: string): string {
  return text.replace(/\[[^\]]*\]|[?*]+|[@+!?*]\([^)]*\)|\{[^}]*\}/g, "*");
}
