/** Lets many work at once, or one alone. */
export interface WorkGate {
  /** Waits while somebody works alone. */
  share<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for all who work, and keeps others waiting. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function createWorkGate(): WorkGate {
  const working = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    async share(work) {
      for (let before; before !== last;) await (before = last);
      const done = work();
      const settled = done.then(
        () => {},
        () => {},
      );
      working.add(settled);
      try {
        return await done;
      } finally {
        working.delete(settled);
      }
    },
    alone(work) {
      const done = last.then(async () => {
        await Promise.all(working);
        return work();
      });
      last = done.then(
        () => {},
        () => {},
      );
      return done;
    },
  };
}
