import { knownFailure } from "../turn/known-failure.ts";
import type { JsonValue, SuspendReason, Wait } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import { beforeSuspending, isBackgroundOpen } from "../features/children/await-background.ts";
import { callAfterFailedTurn } from "../features/hooks/turn-callbacks.ts";
import { inferAndRunCalls } from "./infer-and-run-calls.ts";
import { keepCutResponse } from "./keep-cut-response.ts";
import { leavePreparation } from "./compaction/preparation.ts";
import { endRun } from "./end-run.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { endingOf, RunEnding } from "../turn/run-ending.ts";
import { systemPrompt, type SystemPrompt } from "./system-prompt.ts";
import { backgroundOf } from "../features/children/background.ts";
import { momentsOf, passMoment, type Place } from "../turn/moments.ts";
import { outputOf } from "../features/output/run-output.ts";

/** What whoever drives a run does next. */
export type Next =
  | { readonly type: "now" }
  | { readonly type: "waiting"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "done" };

const NOW: Next = { type: "now" };

/**
 * The loop: turns are worked until the run is over or waits, or so many are done. Of a turn that is open, what the log holds is
 * read and the rest is done. Rejects only when the log fails; all else is an ending or a wait.
 */
export async function runTurns(loop: Loop, most: number = Number.POSITIVE_INFINITY): Promise<Next> {
  let next = NOW;
  let prompt: SystemPrompt | undefined;
  for (let left = most; left > 0 && next.type === "now"; left--) {
    try {
      takeUp(loop);
      const place = await openTurn(loop, left === most);
      prompt ??= await systemPrompt(loop);
      await inferAndRunCalls(loop, place, prompt.text);
      await passMoment(loop, momentsOf(loop).beforeNextTurn, place);
      await loop.execution.journal.keepSnapshot();
    } catch (error) {
      next = await leaveTurn(loop, error);
    }
  }
  return next;
}

/** Goes on with what an earlier process left open. */
function takeUp(loop: Loop): void {
  const { ending } = runOf(loop);
  if (ending) {
    outputOf(loop).output = outputOf(loop).value = ending.output;
    const { failure, ...told } = ending;
    throw new RunEnding(ending.reason, { ...told, ...(failure && { failure: knownFailure(failure) }) });
  }
  if (isBackgroundOpen(loop)) backgroundOf(loop)?.takeUp();
}

/** Begins a turn, or goes on with the one that is open. @param isTakenUp nothing of the run was worked yet since it was taken up */
async function openTurn(loop: Loop, isTakenUp: boolean): Promise<Place> {
  const moments = momentsOf(loop);
  const run = runOf(loop);
  const number = run.turnOpen ? run.turn : run.turn + 1;
  const place: Place = { turn: `t${number}`, number };
  const isFirst = number === 1 && !run.turnOpen;
  if (isFirst) await passMoment(loop, moments.beforeRun, place);
  else if (isTakenUp) await passMoment(loop, moments.onResume, place);
  if (!run.turnOpen) await passMoment(loop, moments.betweenTurns, place);
  await passMoment(loop, moments.beforeTurn, place);
  return place;
}

/** What was thrown in a turn suspends the run or ends it. */
async function leaveTurn(loop: Loop, error: unknown): Promise<Next> {
  await leavePreparation(loop, error instanceof Suspension ? "wait" : "end");
  if (error instanceof Suspension) {
    const suspension = await beforeSuspending(loop, error);
    return suspension ? suspend(loop, suspension) : NOW;
  }
  const ending = endingOf(error, loop);
  const isNew = runOf(loop).ending === undefined;
  keepCutResponse(loop);
  if (isNew) await callAfterFailedTurn(loop, ending);
  if (ending.reason !== "complete") outputOf(loop).output = undefined;
  return endOrWait(loop, ending, outputOf(loop).output);
}

/** Ends a run, or leaves it waiting for what has to end before it. */
export async function endOrWait(loop: Loop, ending: RunEnding, output?: JsonValue): Promise<Next> {
  try {
    await endRun(loop, ending, output);
  } catch (waiting) {
    if (waiting instanceof Suspension) return suspend(loop, waiting);
    throw waiting;
  }
  return { type: "done" };
}

async function suspend(loop: Loop, suspension: Suspension): Promise<Next> {
  const { execution } = loop;
  const { turn } = runOf(loop);
  await passMoment(loop, momentsOf(loop).onSuspension, { turn: `t${turn}`, number: turn });
  execution.put(`suspend/${runOf(loop).resumes}`, "run-suspend", { reason: suspension.reason, waits: suspension.waits }, "power");
  await execution.flush();
  return { type: "waiting", reason: suspension.reason, waits: suspension.waits };
}
