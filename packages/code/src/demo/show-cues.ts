import type { ConversationWatcher } from "../modes/conversation-watcher.ts";

/** The moments of a conversation that the director of a show waits for. */
export interface ShowCues extends ConversationWatcher {
  /** True while a run is under way. */
  readonly isAtWork: boolean;
  /** True while a question is open. */
  readonly isAsked: boolean;
  /** The number of runs that are over. */
  readonly runs: number;
  /** The number of commands of the prompt that are done. */
  readonly commands: number;
  /**
   * Resolves when the condition holds: with true, or with false if `instead` resolves first. Rejects if the signal aborts.
   * @param condition checked when something happens
   */
  until(condition: () => boolean, options: { readonly signal: AbortSignal; readonly instead: Promise<unknown> }): Promise<boolean>;
}

export function createShowCues(): ShowCues {
  let isAtWork = false;
  let isAsked = false;
  let runs = 0;
  let commands = 0;
  const listeners = new Set<() => void>();
  const happened = (): void => {
    for (const listener of [...listeners]) listener();
  };
  return {
    get isAtWork() {
      return isAtWork;
    },
    get isAsked() {
      return isAsked;
    },
    get runs() {
      return runs;
    },
    get commands() {
      return commands;
    },
    working() {
      isAtWork = true;
      isAsked = false;
      happened();
    },
    waiting() {
      isAsked = true;
      happened();
    },
    done() {
      isAtWork = false;
      isAsked = false;
      runs += 1;
      happened();
    },
    commandDone() {
      commands += 1;
      happened();
    },
    async until(condition, { signal, instead }) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const check = (): void => {
        if (condition()) resolve(true);
      };
      const onAbort = (): void => reject(signal.reason);
      listeners.add(check);
      signal.addEventListener("abort", onAbort);
      instead.then(() => resolve(false), reject);
      check();
      if (signal.aborted) onAbort();
      try {
        return await promise;
      } finally {
        listeners.delete(check);
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}
