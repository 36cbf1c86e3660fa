/** A context that a run and its children in this process share. It is disposed of when the last of them releases it. */
export class HeldContext {
  readonly value: unknown;
  #holders = 1;

  constructor(value: unknown) {
    this.value = value;
  }

  /** Adds a holder. @returns false if the context is already disposed of */
  hold(): boolean {
    if (this.#holders === 0) return false;
    this.#holders++;
    return true;
  }

  /** Rejects with what its disposal threw. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return;
    const { value } = this;
    if (typeof value !== "object" || value === null) return;
    if (Symbol.asyncDispose in value) await (value as AsyncDisposable)[Symbol.asyncDispose]();
    else if (Symbol.dispose in value) (value as Disposable)[Symbol.dispose]();
  }
}
