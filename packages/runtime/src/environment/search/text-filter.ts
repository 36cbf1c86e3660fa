import { alternativeTexts, type PatternNode } from "../files/pattern-node.ts";
import { createLiteralFilter } from "./literal-filter.ts";
import { createRunFilter } from "./run-filter.ts";

/** Finds the texts that cannot match, with less work than the search of their lines. */
export interface TextFilter {
  /** @param bytes a text in UTF-8; with `isAscii` also one in an encoding that agrees with ASCII */
  isIn(bytes: Buffer): boolean;
  readonly isAscii: boolean;
  /** Characters of the shortest fixed text that it looks for; 0 if it looks for sets of characters. */
  readonly shortest: number;
}

// A shorter text is found in nearly every file.
const TELLING_CHARACTERS = 3;

/** @returns `undefined` if every text may match */
export function createTextFilter(node: PatternNode, caseInsensitive: boolean): TextFilter | undefined {
  const literal = createLiteralFilter(alternativeTexts(node), caseInsensitive);
  return literal !== undefined && literal.shortest >= TELLING_CHARACTERS ? literal : (createRunFilter(node, caseInsensitive) ?? literal);
}
