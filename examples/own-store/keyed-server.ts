/** What a transaction sets. `undefined` takes a name away. */
export type Values = Map<string, string | undefined>;

/** Stands for a server that keeps texts by name: every call takes a moment, and many programs may use it at once. */
export class KeyedServer {
  readonly #values = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();

  async get(name: string): Promise<string | undefined> {
    await aMoment();
    return this.#values.get(name);
  }

  /** Those whose names begin so. */
  async entries(beginning: string): Promise<readonly (readonly [name: string, text: string])[]> {
    await aMoment();
    return [...this.#values].filter(([name]) => name.startsWith(beginning));
  }

  /** Runs `work` alone. What it sets is kept at its end, all or nothing; `undefined` takes a name away. */
  transaction<T>(work: (values: Values) => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      const values: Values = new Map();
      const result = await work(values);
      await aMoment();
      for (const [name, text] of values) {
        if (text === undefined) this.#values.delete(name);
        else this.#values.set(name, text);
      }
      if (values.size > 0) for (const wake of this.#watchers) wake();
      return result;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Calls `wake` after each change, until the returned function is called. */
  watch(wake: () => void): () => void {
    this.#watchers.add(wake);
    return () => void this.#watchers.delete(wake);
  }
}

const aMoment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
