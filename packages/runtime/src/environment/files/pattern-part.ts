import type { PatternNode } from "./pattern-node.ts";

/** One part of a pattern, for us and for ripgrep. */
export interface PatternPart {
  readonly node: PatternNode;
  readonly rust: string;
}

/** A character of a set. */
export function set(script: string, rust: string): PatternPart {
  return { node: { type: "set", script }, rust };
}

export function sequence(parts: readonly PatternPart[]): PatternPart {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return { node: { type: "sequence", parts: parts.map(({ node }) => node) }, rust: parts.map(({ rust }) => rust).join("") };
}

/** From one code point to another, as it is written in a class. */
export function range(start: number, end: number, escape: "\\u" | "\\x"): string {
  const first = `${escape}{${start.toString(16)}}`;
  return start === end ? first : `${first}-${escape}{${end.toString(16)}}`;
}
