import type { ShellWord } from "./shell-word.ts";
import { literalPattern, starPattern } from "./star-patterns.ts";

/** Returns the words of a command with one space between them, without those that a program adds. */
export function textOf(words: readonly ShellWord[]): string {
  return words
    .filter(({ written }) => written !== "")
    .map(({ text, written }) => written ?? text)
    .join(" ");
}

/** Returns the same as a pattern of rules: a star for each part that the line computes or matches. It is equal to the text without such parts. */
export function patternOf(words: readonly ShellWord[]): string {
  if (words.every(({ literal, globs, written }) => literal && !globs && written === undefined)) return textOf(words);
  return words.map(wordPattern).join(" ");
}

function wordPattern({ text, literal, globs, splits, written }: ShellWord): string {
  if (written !== undefined || splits) return "*";
  if (literal && !globs) return literalPattern(text);
  if (!literal) return computed(text);
  return starPattern(text).replaceAll("\\", "*");
}

/** A computed word keeps the letters before its first expansion. */
function computed(text: string): string {
  const at = text.search(/[$`]/);
  return at < 0 ? "*" : `${literalPattern(text.slice(0, at))}*`;
}
