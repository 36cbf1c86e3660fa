/** The address of a page that may be shown to a person, or the reason why it may not. */
export type PageUrl = { readonly url: string } | { readonly problem: string };

const MAX_URL_LENGTH = 4 * 1024;

/**
 * Reads the address of a page that a person is asked to open. Only `https:` and `http:` are shown, and only in their normal form: the host
 * as ASCII (an international name as `xn--…`), every other character of path and query that is not plain as `%XX`.
 */
export function pageUrl(text: unknown): PageUrl {
  if (typeof text !== "string") return { problem: "the address of the page is no text" };
  if (text.length > MAX_URL_LENGTH) return { problem: `the address of the page is longer than ${MAX_URL_LENGTH} characters` };
  const parsed = URL.parse(text);
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:"))
    return { problem: "the page is not one of the web (http or https)" };
  // A name before an @ looks like a host to a person.
  if (parsed.username !== "" || parsed.password !== "") return { problem: "the address of the page holds a user name or a password" };
  if (parsed.href.length > MAX_URL_LENGTH) return { problem: `the address of the page is longer than ${MAX_URL_LENGTH} characters` };
  return { url: parsed.href };
}
