const PLACEHOLDER =
  /^(?:[$%<{[(]|\*{3}|process\.|os\.|env[.(]|import\.meta|x{4}|\.{3})|\bexample\b|placeholder|change[-_ ]?me|your[-_ ]|dummy|redacted|(?:^|[-_])(?:undefined|null|none|true|false|string|required|optional)$/i;
/** `settings.apiKey`, `a::b`, `get_token()`: code that gets a value from elsewhere. */
const CODE = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$|[()]/;

/** Whether a value that stands where a secret would is one, rather than the name of one, a placeholder or plain words. */
export function looksSecret(value: string): boolean {
  if (PLACEHOLDER.test(value) || CODE.test(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  if (!/[0-9]/.test(value))
    return classes >= 3 && value.length >= 10 && entropyOf(value) >= 3 && !/^[A-Za-z]+(?:[-_ .][A-Za-z]+)*$/.test(value);
  return value.length >= 8 && classes >= 2 && entropyOf(value) >= 2.5;
}

/** Bits a character, by how often each stands in the text. Of random hexadecimal digits nearly 4, of English about 4 in long texts and less in words. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
