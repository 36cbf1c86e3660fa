/** Hands items to one reader in order; `end` lets it finish. Unbounded: for what is few by nature. */
export class Queue<T> implements AsyncIterableIterator<T> {
  #items: T[] = [];
  #waiting: ((result: IteratorResult<T>) => void)[] = [];
  #ended = false;
  readonly #onReturn: () => void;

  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(item: T): void {
    if (this.#ended) return;
    const resolve = this.#waiting.shift();
    if (resolve) resolve({ done: false, value: item });
    else this.#items.push(item);
  }

  end(): void {
    this.#ended = true;
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T>> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.end();
    this.#items = [];
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }
}
