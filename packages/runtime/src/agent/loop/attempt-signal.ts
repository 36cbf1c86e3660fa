/**
 * The signal that providers are given: it fires when the run is aborted, and for a message that interrupts. One signal serves
 * attempt after attempt, until it has fired.
 */
export class AttemptSignal {
  readonly #run: AbortSignal;
  #controller: AbortController | undefined;
  /** Set while an attempt is under way. */
  #onFired: (() => void) | undefined;

  constructor(run: AbortSignal) {
    this.#run = run;
  }

  /** @param onFired called at most once, when the signal fires before `end` */
  begin(onFired: () => void): AbortSignal {
    // One listener for the whole run: it ends together with its signal.
    if (this.#controller === undefined) this.#run.addEventListener("abort", () => this.#fire(this.#run.reason), { once: true });
    if (this.#controller === undefined || this.#controller.signal.aborted) this.#controller = new AbortController();
    this.#onFired = onFired;
    const { signal } = this.#controller;
    if (this.#run.aborted) this.#fire(this.#run.reason);
    return signal;
  }

  end(): void {
    this.#onFired = undefined;
  }

  /** Ends the attempt under way, if there is one. */
  interrupt(): void {
    if (this.#onFired !== undefined) this.#fire("interrupted");
  }

  #fire(reason: unknown): void {
    const onFired = this.#onFired;
    this.#onFired = undefined;
    this.#controller?.abort(reason);
    onFired?.();
  }
}
