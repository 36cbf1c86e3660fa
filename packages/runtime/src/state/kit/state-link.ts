const PREFIX = "links/";

/** A relation from one key to another, as a store keeps it: a key of its own, so that every store can. */
export interface StateLink {
  readonly from: string;
  readonly relation: string;
  readonly to: string;
}

export function memoryLinkKey({ from, relation, to }: StateLink): string {
  return linksOf(from, relation) + encodeURIComponent(to);
}

/** What the keys of all links from a key begin with. */
export function linksOf(from: string, relation?: string): string {
  return `${PREFIX}${encodeURIComponent(from)}/${relation === undefined ? "" : `${encodeURIComponent(relation)}/`}`;
}

/** @returns `undefined` for a key that is no link's */
export function linkOfKey(key: string): StateLink | undefined {
  if (!isLinkKey(key)) return undefined;
  const [from = "", relation = "", to = ""] = key.slice(PREFIX.length).split("/").map(decodeURIComponent);
  return { from, relation, to };
}

/** Searches don't find links. */
export function isLinkKey(key: string): boolean {
  return key.startsWith(PREFIX) && key.split("/").length === 4 && isEncoded(key);
}

function isEncoded(key: string): boolean {
  try {
    decodeURIComponent(key);
    return true;
  } catch {
    return false;
  }
}
