import { checkOptionNames } from "../json/option-names.ts";

/** Counts the tokens of texts exactly as a model does. */
export interface Tokenizer {
  /** As its makers call it, for example `o200k_base`. */
  readonly name: string;
  count(text: string): number;
}

/** Joining the bytes of a word takes time in proportion to the square of its length, so no longer one is joined as a whole. */
const LONGEST_WORD = 1024;
const LONG_WORD: RegExp = /\p{L}{1024}|\s{1024}|[^\s\p{L}\p{N}]{1024}/u;

type ImportModule = (specifier: string) => Promise<unknown>;

const OLDER = /^(?:gpt-4(?!o|\.|-?5)|gpt-3\.5|gpt-35|text-embedding)/;
const NEWER = /^(?:gpt-|chatgpt-|o\d|codex)/;

/**
 * The tokenizer of a model, loaded when it is asked for; `undefined` for models whose makers published none. Those of OpenAI come
 * with the package `gpt-tokenizer`, which is not installed with this one.
 * @throws Error that says what to install
 */
export async function loadTokenizer(
  model: string,
  options: { readonly importModule?: ImportModule | undefined } = {},
): Promise<Tokenizer | undefined> {
  checkOptionNames("loadTokenizer", options, { importModule: true });
  const { importModule = (specifier) => import(specifier) } = options;
  const bare = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const name = bare.startsWith("gpt-oss")
    ? "o200k_harmony"
    : OLDER.test(bare)
      ? "cl100k_base"
      : NEWER.test(bare)
        ? "o200k_base"
        : undefined;
  if (name === undefined) return undefined;
  let loaded: unknown;
  try {
    loaded = await importModule(`gpt-tokenizer/encoding/${name}`);
  } catch (cause) {
    throw new Error(`The tokens of ${model} are counted by the package gpt-tokenizer, which can't be loaded: npm install gpt-tokenizer`, {
      cause,
    });
  }
  const { countTokens } = loaded as { readonly countTokens?: (text: string, options?: object) => number };
  if (typeof countTokens !== "function")
    throw new Error(`The package gpt-tokenizer has no countTokens for ${name}: install version 4 or later (npm install gpt-tokenizer)`);
  // Words that mark turns are text where a user writes them.
  const counting = { disallowedSpecial: new Set<string>() };
  return {
    name,
    count(text) {
      if (!LONG_WORD.test(text)) return countTokens(text, counting);
      let tokens = 0;
      for (let at = 0; at < text.length; at += LONGEST_WORD) tokens += countTokens(text.slice(at, at + LONGEST_WORD), counting);
      return tokens;
    },
  };
}
