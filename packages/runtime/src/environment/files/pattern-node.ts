/** A search pattern, read. */
export type PatternNode =
  /** One character of a set; `script` is a class of JavaScript's `v` mode, `literal` the one character that it holds. */
  | { readonly type: "set"; readonly script: string; readonly literal?: string }
  | { readonly type: "place"; readonly place: PatternPlace }
  | { readonly type: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly type: "choice"; readonly options: readonly PatternNode[] }
  | { readonly type: "repeat"; readonly part: PatternNode; readonly least: number; readonly most: number; readonly lazy: boolean };

/** Where a line begins or ends; where a word does, and where it does not. */
export type PatternPlace = "start" | "end" | "border" | "no-border";

/** What matches the same texts read backwards. */
export function reversed(node: PatternNode): PatternNode {
  switch (node.type) {
    case "set":
    case "place":
      return node;
    case "sequence":
      return { ...node, parts: node.parts.map(reversed).reverse() };
    case "choice":
      return { ...node, options: node.options.map(reversed) };
    case "repeat":
      return { ...node, part: reversed(node.part) };
  }
}

export function matchesNothing(node: PatternNode): boolean {
  switch (node.type) {
    case "set":
      return false;
    case "place":
      return true;
    case "sequence":
      return node.parts.every(matchesNothing);
    case "choice":
      return node.options.some(matchesNothing);
    case "repeat":
      return node.least === 0 || matchesNothing(node.part);
  }
}

/** The longest text found that is part of every match, to leave out what cannot match; `""` when there is none. */
export function requiredText(node: PatternNode): string {
  switch (node.type) {
    case "set":
      return node.literal ?? "";
    case "repeat":
      return node.least > 0 ? requiredText(node.part) : "";
    case "sequence": {
      const found: string[] = [""];
      let run = "";
      for (const part of node.parts) {
        if (part.type === "place") continue;
        if (part.type === "set" && part.literal !== undefined) run += part.literal;
        else {
          found.push(run, requiredText(part));
          run = "";
        }
      }
      return [...found, run].reduce((longest, text) => (text.length > longest.length ? text : longest));
    }
    default:
      return "";
  }
}

// More than a model lists in a pattern, few enough to look for together.
const MAX_ALTERNATIVES = 32;

/** Returns texts of which every match holds at least one; none if none are known. */
export function alternativeTexts(node: PatternNode): readonly string[] {
  switch (node.type) {
    case "set":
      return node.literal === undefined ? [] : [node.literal];
    case "repeat":
      return node.least > 0 ? alternativeTexts(node.part) : [];
    case "choice": {
      const options = node.options.map(alternativeTexts);
      const all = [...new Set(options.flat())];
      return options.some((texts) => texts.length === 0) || all.length > MAX_ALTERNATIVES ? [] : all;
    }
    case "sequence": {
      const text = requiredText(node);
      const found = [text === "" ? [] : [text], ...node.parts.map(alternativeTexts)];
      return found.reduce((best, texts) => (shortest(texts) > shortest(best) ? texts : best));
    }
    default:
      return [];
  }
}

function shortest(texts: readonly string[]): number {
  return texts.length === 0 ? 0 : Math.min(...texts.map((text) => text.length));
}
