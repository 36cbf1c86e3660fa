/** A user's own signal that knows who listens to it. */
export class CountingSignal {
  readonly #controller = new AbortController();
  #listeners = 0;

  constructor() {
    const { signal } = this.#controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    const known = new Set<unknown>();
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      known.add(given[1]);
      this.#listeners = known.size;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      known.delete(given[1]);
      this.#listeners = known.size;
      remove(...given);
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get listeners(): number {
    return this.#listeners;
  }

  abort(): void {
    this.#controller.abort();
  }
}
