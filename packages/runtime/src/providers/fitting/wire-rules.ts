/** The names that a vendor accepts: characters as the inside of a character class of a regular expression. */
export interface NameRule {
  /** The first character. */
  readonly first: string;
  /** All others. */
  readonly rest: string;
  readonly maxLength: number;
}

/** The part of JSON Schema that a vendor accepts in the schemas of tools. Schemas of draft 2020-12 are lowered to it. */
export interface SchemaRules {
  /** `inline`: the vendor follows no references, so that each is replaced by its definition. */
  readonly references: "keep" | "inline";
  /** `portable`: patterns that need the engine of ECMAScript are described in words. */
  readonly patterns: "keep" | "portable";
  /** `lower`: a tuple becomes a list of any of its items. */
  readonly tuples: "keep" | "lower";
  /** Alternatives are not allowed beside `type`: the type moves into each alternative. */
  readonly typeInAlternatives?: true;
  /** Every schema must name a type or alternatives that do. */
  readonly typed?: true;
  /** Keywords that are left out, and described in words if they restrict a value. */
  readonly without?: readonly string[];
  /** Property keys. Absent: any. */
  readonly keys?: NameRule;
  /** Levels of schemas. Deeper ones accept anything, and are described in words. */
  readonly maxDepth: number;
  /** Length of a schema as JSON. Longer ones lose their annotations, then their inner structure. */
  readonly maxLength: number;
}

/** The conditions under which one vendor accepts names, ids and schemas. Facts only: the code that applies them is shared. */
export interface WireRules {
  /** The vendor, for messages and documents. */
  readonly vendor: string;
  /** Names of tools and of schemas of structured output. */
  readonly names: NameRule;
  readonly schemas: SchemaRules;
  /** Media types of images. Absent: any. */
  readonly images?: readonly string[];
  /** Levels of the arguments of a call in the conversation. Absent: as deep as arguments may be. */
  readonly maxArgumentDepth?: number;
  /** Public pages and threads that the rules are taken from. */
  readonly sources: readonly string[];
}

/** The formats of images that most vendors read. */
export const COMMON_IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Letters, digits, `_` and `-`, up to 64: accepted as a name by every vendor if it begins with a letter. */
export const COMMON_NAMES: NameRule = { first: "a-zA-Z0-9_-", rest: "a-zA-Z0-9_-", maxLength: 64 };

const patterns = new WeakMap<NameRule, RegExp>();

/** True if the vendor accepts the name as it is. */
export function isFitName(name: string, rule: NameRule): boolean {
  let pattern = patterns.get(rule);
  if (pattern === undefined) patterns.set(rule, (pattern = new RegExp(`^[${rule.first}][${rule.rest}]{0,${rule.maxLength - 1}}$`)));
  // `$` in a pattern also matches before a final line end in other engines, not here.
  return pattern.test(name);
}
