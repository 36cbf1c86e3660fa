import { type AbortWatcher, isAborted, watchAbort, WatchedAbort } from "../../platform/watched-abort.ts";

/** Who is told that an attempt is to end. */
export interface AttemptEnd {
  fired(): void;
}

/**
 * The signal that providers are given: it fires when the run is aborted or stopped, and for a message that interrupts. One signal serves
 * attempt after attempt, until it has fired.
 */
export class AttemptSignal implements AbortWatcher {
  readonly #run: AbortSignal;
  #controller: WatchedAbort | undefined;
  /** Set while an attempt is under way. */
  #attempt: AttemptEnd | undefined;

  /** Whether the run's own signal has fired: asked often, and asking the signal is dear. */
  runAborted: boolean;

  /** The run is to stop: no answer is waited for any more. */
  stopped = false;

  constructor(run: AbortSignal) {
    this.#run = run;
    this.runAborted = isAborted(run);
    // For the whole run: it ends together with its signal.
    watchAbort(run, this);
  }

  /** @param attempt told at most once, when the signal fires before `end` */
  begin(attempt: AttemptEnd): AbortSignal {
    this.#attempt = attempt;
    if (this.#controller === undefined || this.#controller.fired) this.#controller = this.#renew();
    if (this.stopped) this.#fire("stopped");
    return this.#controller.signal;
  }

  end(): void {
    this.#attempt = undefined;
  }

  /** Ends the attempt under way, if there is one. */
  interrupt(): void {
    if (this.#attempt !== undefined) this.#fire("interrupted");
  }

  /** Ends the attempt under way, and each that begins from now on. */
  stop(): void {
    this.stopped = true;
    if (this.#attempt !== undefined) this.#fire("stopped");
  }

  #renew(): WatchedAbort {
    this.#controller = new WatchedAbort();
    if (this.runAborted) this.#fire(this.#run.reason);
    return this.#controller;
  }

  /** The run's signal has fired. */
  handleEvent(): void {
    this.runAborted = true;
    this.#fire(this.#run.reason);
  }

  #fire(reason: unknown): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    this.#controller?.abort(reason);
    attempt?.fired();
  }
}
