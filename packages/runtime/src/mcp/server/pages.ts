/** A page of a list and where the next begins. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

/**
 * Cuts a list into pages. A cursor names the last entry that was sent, so that entries that come or go meanwhile move nothing.
 * @returns `undefined` for a cursor of an entry that there is not
 */
export function pageOf<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  cursor: string | undefined,
  size: number,
): ListPage<Item> | undefined {
  const last = cursor === undefined ? undefined : Buffer.from(cursor, "base64url").toString("utf8");
  const found = last === undefined ? -1 : items.findIndex((item) => nameOf(item) === last);
  if (last !== undefined && found === -1) return undefined;
  const page = items.slice(found + 1, found + 1 + size);
  const end = page.at(-1);
  const isLast = end === undefined || found + 1 + size >= items.length;
  return { items: page, ...(!isLast && { nextCursor: Buffer.from(nameOf(end)).toString("base64url") }) };
}
