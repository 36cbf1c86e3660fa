import type { BackgroundJob, BackgroundJobEnding, RunId } from "@keelson/protocol";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Work } from "./work.ts";

// Jobs outlive the stretch of work that started them: whoever takes the run up in this process finds them here.
const live = new Map<string, BackgroundJob>();

const LOST: ChildEnding = {
  reason: "error",
  text: "",
  failure: {
    kind: "other",
    message: "it ran in a process that is gone, or that no longer works on this run. Start it again if it is needed",
  },
};

/** From now on this process has the job. */
export function keepJob(run: RunId, job: BackgroundJob): void {
  live.set(placeOf(run, job.id), job);
}

/** Its end is recorded, so that nobody asks for it again. */
export function forgetJob(run: RunId, id: string): void {
  live.delete(placeOf(run, id));
}

/** Watches a job of this process. One that no process has any more is over. */
export function watchJob(run: RunId, state: ChildState, ring: () => void): Work {
  const job = live.get(placeOf(run, state.id));
  const left = Promise.withResolvers<void>();
  const work: Work = {
    state,
    ending: state.settled ?? (job === undefined ? LOST : undefined),
    waiting: undefined,
    effects: [],
    handoff: undefined,
    done: job === undefined ? Promise.resolve() : Promise.race([left.promise, job.ended.then(end)]),
    stop: () => job?.end(),
    leave: left.resolve,
  };
  if (state.stopping === true) work.stop();
  return work;

  function end(ending: BackgroundJobEnding): void {
    work.ending ??= endingOf(ending);
    work.isTold = ending.isTold === true;
    ring();
  }
}

function endingOf({ text, isError }: BackgroundJobEnding): ChildEnding {
  return isError
    ? { reason: "error", text: "", value: text, failure: { kind: "other", message: text } }
    : { reason: "complete", text: "", value: text };
}

function placeOf(run: RunId, id: string): string {
  return `${run}/${id}`;
}
