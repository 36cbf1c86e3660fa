import { alternativeTexts, type PatternNode } from "../files/pattern-node.ts";
import { createLiteralFilter } from "./literal-filter.ts";
import { createRunFilter } from "./run-filter.ts";
import type { TextFilter } from "./text-filter.ts";

// A shorter text is found in nearly every file.
const TELLING_CHARACTERS = 3;

/** @returns `undefined` if every text may match */
export function createTextFilter(node: PatternNode, caseInsensitive: boolean): TextFilter | undefined {
  const literal = createLiteralFilter(alternativeTexts(node), caseInsensitive);
  return literal !== undefined && literal.shortest >= TELLING_CHARACTERS ? literal : (createRunFilter(node, caseInsensitive) ?? literal);
}
