import { approximateTokens } from "../../providers/approximate-tokens.ts";
import { apportion } from "../../providers/token-count/apportion.ts";

/** A stretch of a system prompt that is the text of a file. */
export interface SystemFile {
  readonly path: string;
  /** Its first character. */
  readonly from: number;
  /** Behind its last. */
  readonly upTo: number;
}

/** The tokens of a system prompt, stretch by stretch. They add up to `tokens`. */
export interface SystemStretch {
  /** Absent where it is the prompt's own text. */
  readonly path?: string;
  readonly tokens: number;
}

/** Stretches that overlap another, or are none of the text, are not told apart. */
export function systemStretches(system: string, files: readonly SystemFile[], tokens: number): readonly SystemStretch[] {
  const stretches: { readonly path?: string; readonly about: number }[] = [];
  let end = 0;
  for (const { path, from, upTo } of files.toSorted((a, b) => a.from - b.from)) {
    if (!(from >= end && upTo > from && upTo <= system.length)) continue;
    if (from > end) stretches.push({ about: approximateTokens(system.slice(end, from)) });
    stretches.push({ path, about: approximateTokens(system.slice(from, upTo)) });
    end = upTo;
  }
  if (end < system.length || stretches.length === 0) stretches.push({ about: approximateTokens(system.slice(end)) });
  const shares = apportion(
    stretches.map(({ about }) => about),
    tokens,
  );
  return stretches.map(({ path }, at) => ({ ...(path !== undefined && { path }), tokens: shares[at] as number }));
}
