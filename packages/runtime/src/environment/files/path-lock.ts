// Shared by all file systems of this process, so that two of them on one folder do not interleave.
const tails = new Map<string, Promise<void>>();

/** Runs `work` while no other `work` of this process holds one of these paths. First come, first served per path. */
export async function withPathLock<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  // One global order, so that two holders of the same two paths cannot wait for each other.
  const ordered = paths.length === 1 ? paths : [...new Set(paths)].sort();
  const releases: (() => void)[] = [];
  try {
    for (const path of ordered) releases.push(await acquire(path));
    return await work();
  } finally {
    for (const release of releases) release();
  }
}

async function acquire(path: string): Promise<() => void> {
  const previous = tails.get(path);
  const { promise, resolve } = Promise.withResolvers<void>();
  tails.set(path, promise);
  await previous;
  return () => {
    if (tails.get(path) === promise) tails.delete(path);
    resolve();
  };
}
