import type { Clock } from "../../platform/clock.ts";

/** The same work, done at once and then at most once in so many ms, however often it is asked for; what was asked for in between is not forgotten. */
export function paced(work: () => void, pauseMs: number, clock: Clock): () => void {
  let isPausing = false;
  let isAskedFor = false;
  const run = (): void => {
    if (isPausing) {
      isAskedFor = true;
      return;
    }
    isPausing = true;
    isAskedFor = false;
    clock.after(
      pauseMs,
      () => {
        isPausing = false;
        if (isAskedFor) run();
      },
      { keepAlive: false },
    );
    work();
  };
  return run;
}
