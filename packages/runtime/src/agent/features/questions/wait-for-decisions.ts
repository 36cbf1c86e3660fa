import { AgentError, type LogError } from "@keelson/protocol";
import { runOf, type Loop } from "../../turn/loop.ts";
import { approvalsOf } from "../approvals/run-approvals.ts";
import { hooksOf } from "../hooks/loop-hooks.ts";
import { notifyOfQuestion } from "../hooks/notification-hooks.ts";
import { callApprover, failureOfApprover } from "./call-approver.ts";
import { decisionOn, type Published } from "./publish-question.ts";

export interface DecisionWait {
  /** Waited for as long as for somebody here, also where nobody here takes questions: somebody elsewhere may answer. */
  readonly isHeld?: boolean;
  /** Fires when whoever asked has no use for an answer any more. */
  readonly signal?: AbortSignal;
  /** The run was stopped before these questions were asked: only a stop that comes now ends the waiting. */
  readonly afterStop?: boolean;
}

/** `ending`: the run was told to end, or nobody has a use for the answers any more. `open`: nobody answered in time. */
export type DecisionsWaited = "decided" | "ending" | "open";

/**
 * Waits until all of these published questions are decided, as long as anybody can decide them in this process: the callback, or the
 * takers of `run.approvals()`. What is decided elsewhere meanwhile counts as well.
 */
export async function waitForDecisions(loop: Loop, asked: readonly Published[], wait: DecisionWait = {}): Promise<DecisionsWaited> {
  await loop.execution.flush();
  await loop.readInbox();
  const open = (): readonly Published[] => asked.filter((request) => decisionOn(loop, request.nonce) === undefined);
  const first = open();
  if (first.length === 0) return "decided";
  if (hooksOf(loop) !== undefined) for (const request of first) notifyOfQuestion(loop, request);
  return waitWhileAnybodyAnswers(loop, first, open, wait);
}

async function waitWhileAnybodyAnswers(
  loop: Loop,
  first: readonly Published[],
  open: () => readonly Published[],
  { isHeld = false, signal, afterStop = false }: DecisionWait,
): Promise<DecisionsWaited> {
  const { execution } = loop;
  const approvals = approvalsOf(loop);
  const { approver } = approvals;
  const alarm = createAlarm();
  let failure: AgentError | LogError | undefined;
  let callbacks = 0;
  let patient = isHeld || approvals.watched;
  const cleanups = [execution.journal.onInbox(alarm.ring)];
  for (const ending of [execution.signal, execution.stopping, ...(signal ? [signal] : [])]) {
    ending.addEventListener("abort", alarm.ring, { once: true });
    cleanups.push(() => ending.removeEventListener("abort", alarm.ring));
  }
  try {
    for (const { nonce, ...request } of first) {
      approvals.ask(request);
      if (!approver) continue;
      callbacks++;
      void callApprover(loop, nonce, request)
        .catch((error: unknown) => {
          failure ??= failureOfApprover(error);
        })
        .finally(() => {
          callbacks--;
          alarm.ring();
        });
    }
    if (callbacks > 0 || patient) {
      cleanups.push(
        execution.clock.after(approvals.waitMs, () => {
          patient = false;
          callbacks = 0;
          alarm.ring();
        }),
      );
    }
    for (;;) {
      // Whatever comes from here on rings again, so that nothing slips in between looking and waiting.
      const rung = alarm.next();
      const last = callbacks <= 0 && !patient;
      await loop.readInbox();
      if (failure) throw failure;
      if (open().length === 0) return "decided";
      if (isEnding(loop, afterStop) || signal?.aborted === true) return "ending";
      if (last) return "open";
      await rung;
    }
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

function isEnding(loop: Loop, afterStop: boolean): boolean {
  const { stopping } = runOf(loop);
  return loop.attempts.runAborted || loop.attempts.stopped || stopping === "abort" || (!afterStop && stopping !== undefined);
}

/** Wakes whoever waits for it; a ring that nobody waits for yet is not lost. */
function createAlarm(): { ring(): void; next(): Promise<void> } {
  let ring = (): void => {};
  return {
    ring: () => ring(),
    next: () =>
      new Promise((resolve) => {
        ring = resolve;
      }),
  };
}
