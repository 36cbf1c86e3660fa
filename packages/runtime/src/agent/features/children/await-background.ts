import type { SessionId } from "@keelson/protocol";
import { Suspension } from "../../../session/suspension.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { checkEnding } from "../../turn/run-ending.ts";
import type { Background } from "./background.ts";
import { followInboxes } from "./follow-inboxes.ts";
import { backgroundOf } from "./background.ts";
import type { Step } from "../../turn/moments.ts";

/** A wait that was decided on when nothing else could be done any more. */
class LastWait extends Suspension {}

/** Between turns: records what ended since the last, and puts it before the model. */
export const collectBackgroundStep: Step = {
  name: "background work",
  applies: isBackgroundOpen,
  run: async (loop) => backgroundOf(loop)?.collect(),
};

/** Before the end: waits for what works beside the turns. */
export const awaitBackgroundStep: Step = {
  name: "background work",
  applies: isBackgroundOpen,
  run: (loop) => awaitBackground(loop),
};

/**
 * Holds a run that is done with its turns until its background work has something to say, or is over. What it says is the last
 * message then. Where all of it waits for others, so does the run.
 */
async function awaitBackground(loop: Loop): Promise<void> {
  const { execution, context } = loop;
  const background = backgroundOf(loop);
  if (background === undefined) return;
  await lookUntil(loop, background, async () => {
    if (execution.hasUnread) await loop.readInbox();
    await background.collect();
    background.takeUp();
    // Watchers are told now, not when the waiting is over.
    await execution.flush();
    checkEnding(loop);
    if (context.messages.at(-1)?.role === "user" || !background.holdsRun) return true;
    if (background.isWorking) return false;
    const { waiting } = background;
    if (waiting) throw new LastWait(waiting.reason, waiting.waits);
    return false;
  });
}

/**
 * A run waits for others only once nothing of it can go on: its background work is brought to its end or its wait first.
 * @returns what it then waits for; nothing when there is news, so that the open turn is to be looked at again
 */
export async function beforeSuspending(loop: Loop, suspension: Suspension): Promise<Suspension | undefined> {
  const { execution } = loop;
  const background = backgroundOf(loop);
  if (background === undefined || !isBackgroundOpen(loop) || suspension instanceof LastWait) return suspension;
  // What was read of the inbox so far is no news.
  await execution.flush();
  const following = new AbortController();
  let hasNews = false;
  followInboxes(background.services, sessionsOfCalls(loop), following.signal).then(
    () => {
      hasNews = true;
      background.alarm.ring();
    },
    // A log that can't be read fails whoever writes to it next.
    () => {},
  );
  try {
    let changed = false;
    await lookUntil(loop, background, async () => {
      changed = hasNews || execution.hasUnread || execution.signal.aborted || execution.stopping.aborted;
      background.keepSettled();
      await execution.flush();
      return changed || !background.isWorking;
    });
    if (changed) return undefined;
  } finally {
    following.abort("over");
  }
  const { waiting } = background;
  return waiting ? new Suspension(suspension.reason, [...suspension.waits, ...waiting.waits]) : suspension;
}

/** Ends what is open where the run ends before it: told to stop, waited for, recorded. */
export async function endBackground(loop: Loop): Promise<void> {
  const { execution } = loop;
  const background = backgroundOf(loop);
  if (background === undefined || !isBackgroundOpen(loop)) return;
  background.takeUp();
  background.stopAll();
  await lookUntil(loop, background, async () => {
    if (execution.journal.failure) throw execution.journal.failure;
    await background.collectSilently();
    return !background.isOpen;
  });
}

/** At the end of a stretch of work that others go on with: what is at work here comes to its end or its wait first. */
export async function settleBackground(loop: Loop): Promise<void> {
  const { execution } = loop;
  const background = backgroundOf(loop);
  if (background === undefined || !isBackgroundOpen(loop)) return;
  await lookUntil(loop, background, async () => {
    if (runOf(loop).turnOpen) background.keepSettled();
    else await background.collect();
    await execution.flush();
    return !background.isWorking || execution.signal.aborted || execution.stopping.aborted;
  });
}

/** The sessions of the children that calls of the open turn wait for. */
function sessionsOfCalls(loop: Loop): readonly SessionId[] {
  const sessions: SessionId[] = [];
  for (const { session, status, background } of runOf(loop).children?.all.values() ?? [])
    if (session !== undefined && status === "working" && background === undefined) sessions.push(session);
  return sessions;
}

/** Whether any work beside the turns is not recorded as over. */
export function isBackgroundOpen(loop: Loop): boolean {
  const { children } = runOf(loop);
  return children !== undefined && children.openBackground > 0;
}

/** Looks again whenever something happened: work ended, waits or made progress, somebody wrote, the run was told to end. */
async function lookUntil(loop: Loop, { alarm }: Background, look: () => Promise<boolean>): Promise<void> {
  const { signal, stopping, journal } = loop.execution;
  const unlisten = journal.onInbox(alarm.ring);
  signal.addEventListener("abort", alarm.ring);
  stopping.addEventListener("abort", alarm.ring);
  try {
    for (;;) {
      const rung = alarm.next();
      if (await look()) return;
      await rung;
    }
  } finally {
    unlisten();
    signal.removeEventListener("abort", alarm.ring);
    stopping.removeEventListener("abort", alarm.ring);
  }
}
