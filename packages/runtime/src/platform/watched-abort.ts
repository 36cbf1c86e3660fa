/** Is told, once, that a signal has fired. An `EventListener` of the platform where the signal is somebody else's. */
export interface AbortWatcher {
  handleEvent(): void;
}

/**
 * An `AbortController` that tells its watchers by itself. One serves all requests of a run: the listeners of the platform, added
 * and removed for each request, would take more memory and more steps than the request's own bookkeeping.
 */
export class WatchedAbort {
  fired = false;
  reason: unknown;
  /** Made when somebody asks for the signal: most runs are over before anybody asks whether they were told to stop. */
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  /** Absent while there was none. */
  #watchers: AbortWatcher[] | undefined;

  get signal(): AbortSignal {
    return this.#signal ?? this.#openSignal();
  }

  abort(reason: unknown): void {
    if (this.fired) return;
    this.fired = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    const watchers = this.#watchers ?? [];
    this.#watchers = undefined;
    for (const watcher of watchers) watcher.handleEvent();
  }

  watch(watcher: AbortWatcher): void {
    if (this.fired) return;
    if (this.#watchers === undefined) this.#watchers = [watcher];
    else this.#watchers.push(watcher);
  }

  unwatch(watcher: AbortWatcher): void {
    const watchers = this.#watchers;
    const at = watchers === undefined ? -1 : watchers.lastIndexOf(watcher);
    if (watchers === undefined || at < 0) return;
    const last = watchers.pop() as AbortWatcher;
    if (at < watchers.length) watchers[at] = last;
  }

  #openSignal(): AbortSignal {
    this.#controller = new AbortController();
    const signal = (this.#signal = this.#controller.signal);
    own.set(signal, this);
    if (this.fired) this.#controller.abort(this.reason);
    return signal;
  }
}

const own = new WeakMap<AbortSignal, WatchedAbort>();

export function isAborted(signal: AbortSignal): boolean {
  return own.get(signal)?.fired ?? signal.aborted;
}

export function watchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  const known = own.get(signal);
  if (known === undefined) signal.addEventListener("abort", watcher);
  else known.watch(watcher);
}

export function unwatchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  const known = own.get(signal);
  if (known === undefined) signal.removeEventListener("abort", watcher);
  else known.unwatch(watcher);
}
