/**
 * The signals that providers are given, one for each attempt. They fire when the run is aborted or stopped, and for a message that
 * interrupts.
 */
export class AttemptSignal {
  readonly #run: AbortSignal;
  /** Set while an attempt is under way. */
  #attempt: { readonly controller: AbortController; onFired(): void } | undefined;

  /** The run is to stop: no response is waited for any more. */
  stopped = false;

  constructor(run: AbortSignal) {
    this.#run = run;
    // For the whole run: it ends together with its signal.
    run.addEventListener("abort", () => this.#fire(run.reason), { once: true });
  }

  /** Fires when nothing of it may go on. */
  get run(): AbortSignal {
    return this.#run;
  }

  get runAborted(): boolean {
    return this.#run.aborted;
  }

  /** @param onFired called at most once, when the signal fires before `end` is called */
  begin(onFired: () => void): AbortSignal {
    const controller = new AbortController();
    this.#attempt = { controller, onFired };
    if (this.runAborted) this.#fire(this.#run.reason);
    else if (this.stopped) this.#fire("stopped");
    return controller.signal;
  }

  end(): void {
    this.#attempt = undefined;
  }

  /** Ends the attempt under way, if there is one. */
  interrupt(): void {
    this.#fire("interrupted");
  }

  /** Ends the attempt under way, and each that begins from now on. */
  stop(): void {
    this.stopped = true;
    this.#fire("stopped");
  }

  #fire(reason: unknown): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.controller.abort(reason);
    attempt?.onFired();
  }
}
