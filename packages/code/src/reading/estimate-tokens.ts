/** Characters of a token in code and prose of ASCII, on the small side: line numbers and punctuation have tokens of their own. */
const ASCII_CHARACTERS = 3.5;
/** From here on scripts have about a token for each character. */
const FIRST_WIDE_CHARACTER = 0x2e80;
const WIDE_TOKENS = 1;
/** Accented and non-Latin letters. */
const OTHER_TOKENS = 0.6;

/** Estimates the tokens of a text for a model, rather too many than too few, without a tokenizer. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let wide = 0;
  let other = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) ascii++;
    else if (code >= FIRST_WIDE_CHARACTER) wide++;
    else other++;
  }
  return Math.ceil(ascii / ASCII_CHARACTERS + wide * WIDE_TOKENS + other * OTHER_TOKENS);
}
