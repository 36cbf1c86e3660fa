/** Told what becomes of a leaf while it runs. */
export interface LeafListener {
  /** It waits for a person from here on, or goes on. */
  held(isHeld: boolean): void;
  /** @param graceMs how long it has from now on; default: as after its signal */
  ended(reason: unknown, graceMs?: number): void;
}

/** In the hands of whoever has a leaf run: its time stands still while it waits for people, and it can be ended from here. */
export class LeafControl {
  #holds = 0;
  #ended: { readonly reason: unknown; readonly graceMs: number | undefined } | undefined;
  #listener: LeafListener | undefined;

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Time does not count while this goes on. */
  async hold<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#holds++ === 0) this.#listener?.held(true);
    try {
      return await wait();
    } finally {
      if (--this.#holds === 0) this.#listener?.held(false);
    }
  }

  /** Fires the signal of the leaf, once; it has its grace from then on. @param graceMs default: as after its signal */
  end(reason: unknown, graceMs?: number): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason, graceMs };
    this.#listener?.ended(reason, graceMs);
  }

  /** Whoever runs the leaf listens, and is told at once what it missed. */
  listen(listener: LeafListener | undefined): void {
    this.#listener = listener;
    if (listener === undefined) return;
    if (this.#holds > 0) listener.held(true);
    if (this.#ended !== undefined) listener.ended(this.#ended.reason, this.#ended.graceMs);
  }
}
