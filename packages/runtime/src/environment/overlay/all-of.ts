// As many as keep the disk busy without holding many files open.
const AT_ONCE = 16;

/** What `work` makes of each item, some at once. When one fails, those that were begun have ended before this rejects. */
export async function allOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    for (const result of await Promise.allSettled(items.slice(at, at + AT_ONCE).map(work))) {
      if (result.status === "rejected") throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}
