import type { Run } from "keelson";

type Act = (run: Run<unknown>) => void;

/** The place of the one run that a conversation has open, from the moment in which it is started. */
export interface RunSlot {
  /** The run under way. `undefined` while one is being started, too. */
  readonly run: Run<unknown> | undefined;
  /** Acts on the run, also on one that is only being started. @returns false if there is none */
  withRun(act: Act): boolean;
  /**
   * Starts a run and follows it to its end. What is done to it until it has started is done as soon as it has.
   * @param follow calls `take` with the run immediately
   */
  open(begin: () => Promise<Run<unknown>>, follow: (run: Run<unknown>) => Promise<void>): Promise<void>;
  take(run: Run<unknown>): void;
  release(): void;
}

export function createRunSlot(): RunSlot {
  let current: Run<unknown> | undefined;
  let early: Act[] | undefined;
  return {
    get run() {
      return current;
    },
    withRun(act) {
      if (current !== undefined) act(current);
      else if (early !== undefined) early.push(act);
      else return false;
      return true;
    },
    async open(begin, follow) {
      const acts: Act[] = [];
      early = acts;
      try {
        const started = await begin();
        const followed = follow(started);
        for (const act of acts) act(started);
        early = undefined;
        await followed;
      } finally {
        if (early === acts) early = undefined;
      }
    },
    take(run) {
      current = run;
    },
    release() {
      current = undefined;
    },
  };
}
