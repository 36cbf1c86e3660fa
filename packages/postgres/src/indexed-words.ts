/**
 * The words of a text, as the database is given them: small, without accents, and nothing else. Its own parser would make hosts, paths and
 * numbers of what looks like them, which other stores find by their words.
 */
export function indexedWords(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}+/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(" ");
}
