/** Shorter texts are part of too many others. */
const LEAST_LENGTH = 12;

/** True if a text is long and unusual enough to be no part of another text by chance: no word, number, host or path. */
export function isTelling(text: string): boolean {
  if (text.length < LEAST_LENGTH || new Set(text).size < 5) return false;
  return !isWord(text) && !isNumber(text) && !isHost(text) && !isPath(text);
}

/** Letters of one case that can be pronounced, in which keys of letters alone differ from words. */
function isWord(text: string): boolean {
  if (!/^[A-Z]?[a-z]+$|^[A-Z]+$/.test(text) || text.length > 24) return false;
  const vowels = text.match(/[aeiouy]/gi)?.length ?? 0;
  return vowels / text.length >= 0.25 && !/[^aeiouy]{5}|[aeiouy]{4}/i.test(text);
}

function isNumber(text: string): boolean {
  return /^[\d\s.,:+/-]+$/.test(text);
}

/** Also with a port, and an address of either kind. A token of a web (JSON Web Token) has capitals. */
function isHost(text: string): boolean {
  return /^(?:[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?$|^localhost(?::\d{1,5})?$|^\[?[0-9a-f:]*::?[0-9a-f:]+\]?(?::\d{1,5})?$/.test(
    text,
  );
}

/** A path from the root, from home or from a folder on; its parts are names, and no text of base64 that begins with a slash. */
function isPath(text: string): boolean {
  if (!/^(?:~|\.{0,2})\/|^[A-Za-z]:[\\/]/.test(text)) return false;
  return !text.split(/[\\/]/).some((part) => part.length >= 20 && /[a-z]/.test(part) && /[A-Z]/.test(part) && /[0-9]/.test(part));
}
