import { type PatternNode, requiredText } from "./pattern-node.ts";
import { PatternReader } from "./pattern-reader.ts";
import { createTextMatcher, type TextMatcher } from "./text-matcher.ts";

/** A pattern for two engines. What matches a line for `matcher` matches it for ripgrep too; `matcher` decides. */
export interface SearchPattern {
  readonly matcher: TextMatcher;
  /** Part of every match, `""` when none is known. */
  readonly required: string;
  readonly node: PatternNode;
  /** In the syntax of ripgrep. */
  readonly ripgrep: string;
}

export interface PatternOptions {
  readonly fixedString?: boolean | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly multiline?: boolean | undefined;
}

/**
 * Compiles a pattern in the language that JavaScript and ripgrep share, with the meanings of ripgrep: literals, `.`,
 * `^`, `$`, `\b`, `\B`, `|`, groups, `* + ? {n,m}` and their lazy forms, classes of characters, ranges and `\d \w \s`
 * (all of Unicode), `\p{…}` with a general category, `\t \n \r \f \v \xHH \x{…} \uHHHH \u{…}`. A pattern in a language of one of
 * them alone is refused as `unsupported`, one in neither as `other`. No pattern takes longer than text times pattern.
 */
export function compileSearchPattern(pattern: string, options: PatternOptions): SearchPattern {
  const { fixedString = false, caseInsensitive = false, multiline = false } = options;
  const reader = new PatternReader(pattern, multiline);
  const { node, rust } = fixedString ? reader.readText() : reader.readPattern();
  const matcher = createTextMatcher(node, { caseInsensitive, spansLines: multiline });
  if (matcher === undefined) throw reader.tooLong();
  const required = caseInsensitive ? "" : requiredText(node);
  return { matcher, required, node, ripgrep: caseInsensitive ? `(?i:${rust})` : rust };
}
