import {
  LogError,
  sessionLog,
  type BackgroundJob,
  type BackgroundJobEnding,
  type EventLog,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Work } from "./work.ts";

// Jobs outlive the stretch of work that started them: whoever takes the run up in this process finds them here.
const live = new Map<string, LiveJob>();

interface LiveJob {
  readonly job: BackgroundJob;
  /** Looks whether its run goes on in another process. */
  elsewhere?: AbortController;
}

const LOST: ChildEnding = {
  reason: "error",
  text: "",
  failure: {
    kind: "other",
    message:
      "it ran in a process that is gone, or that no longer works on this run. What it had done by then is not known: look before you start it again",
  },
};

/** From now on this process has the job. */
export function keepJob(run: RunId, job: BackgroundJob): void {
  live.set(placeOf(run, job.id), { job });
}

/** Its end is recorded, so that nobody asks for it again. */
export function forgetJob(run: RunId, id: string): void {
  live.delete(placeOf(run, id));
}

/**
 * For a run that waits. Another process that takes it up has none of the jobs of this one, and records that they are gone: then they end
 * here, too, and with the session. Nothing is looked for any more once the job is over, or its run is taken up here.
 * @param after what this process knows of the log
 */
export function endIfTakenUpElsewhere(
  log: EventLog,
  place: { readonly session: SessionId; readonly run: RunId; readonly id: string },
  after: number,
): void {
  const { session, run, id } = place;
  const kept = live.get(placeOf(run, id));
  if (kept === undefined) return;
  const elsewhere = (kept.elsewhere = new AbortController());
  void kept.job.ended.then(() => elsewhere.abort("over"));
  void isRecordedAsOver(log, session, id, { after, signal: elsewhere.signal }).then((isOver) => {
    if (!isOver) return;
    forgetJob(run, id);
    kept.job.end();
  });
}

async function isRecordedAsOver(
  log: EventLog,
  session: SessionId,
  id: string,
  options: { readonly after: number; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    for await (const { type, data } of log.read(sessionLog(session), { ...options, follow: true }))
      if (type === "task" && data["taskId"] === id && data["kind"] !== "started") return true;
    return false;
  } catch (error) {
    // A log that was closed says nothing more: the job ends with this process.
    return LogError.is(error, "not-found");
  }
}

/** Watches a job of this process. One that no process has any more is over. */
export function watchJob(run: RunId, state: ChildState, ring: () => void): Work {
  const kept = live.get(placeOf(run, state.id));
  kept?.elsewhere?.abort("taken up here");
  const job = kept?.job;
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
