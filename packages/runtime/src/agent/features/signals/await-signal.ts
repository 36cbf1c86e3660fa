import type { Wait } from "@keelson/protocol";
import { Suspension } from "../../../session/suspension.ts";
import { boundOutput } from "../../../tools/bound-output.ts";
import { createAlarm, type Alarm } from "../../../platform/alarm.ts";
import { refuse, settleCall, type SettledCall } from "../../turn/pending-call.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { checkEnding } from "../../turn/run-ending.ts";
import { openWaits, type OpenWait, type SignalCall } from "./open-waits.ts";
import { signalsOf } from "./run-signals.ts";

/** Gives a call that waits its result, once there is one: here, if it comes within `signalWaitMs`; else the run suspends. */
export async function awaitSignal(loop: Loop, call: SignalCall): Promise<SettledCall> {
  const { execution } = loop;
  const { waitMs: signalWaitMs } = signalsOf(loop);
  const wait = execution.lookup(`${call.key}/wait`, "signal-wait")?.data as OpenWait;
  const alarm = createAlarm();
  const cleanups: (() => void)[] = [];
  let patient = signalWaitMs > 0;
  try {
    if (patient) {
      // Whoever watches is to see that it waits.
      await execution.flush();
      listen(loop, alarm, cleanups);
      const wake = (ms: number, run: () => void): void => void cleanups.push(execution.clock.after(Math.max(0, ms), run));
      wake(signalWaitMs, () => {
        patient = false;
        alarm.ring();
      });
      if (wait.until !== undefined) wake(wait.until - execution.clock.now(), alarm.ring);
    }
    for (;;) {
      // Whatever comes from here on rings, so that nothing slips in between looking and waiting.
      const rung = alarm.next();
      const last = !patient;
      if (execution.hasUnread) await loop.readInbox();
      const over = await settleIfOver(loop, call, wait);
      if (over !== undefined) return over;
      checkEnding(loop);
      if (runOf(loop).interrupted)
        return refuse(call, "The wait was ended: the user sent a new message. Read it, then decide again.", "skipped");
      if (last) throw suspension(loop);
      await rung;
    }
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

function listen({ execution }: Loop, { ring }: Alarm, cleanups: (() => void)[]): void {
  cleanups.push(execution.journal.onInbox(ring));
  for (const signal of [execution.signal, execution.stopping]) {
    signal.addEventListener("abort", ring, { once: true });
    cleanups.push(() => signal.removeEventListener("abort", ring));
  }
}

/** The call with its result, once the signal is there or its time is over. */
async function settleIfOver(loop: Loop, call: SignalCall, { until }: OpenWait): Promise<SettledCall | undefined> {
  const { execution } = loop;
  const given = execution.lookup(`${call.key}/signal`, "signal-given");
  if (given === undefined && (until === undefined || execution.clock.now() < until)) return undefined;
  const result = given === undefined ? { timedOut: true } : { signal: given.data.signal };
  const { output } = await boundOutput(result, call.tool, { blobs: loop.blobs });
  return settleCall(call, "ran", { output, isError: false });
}

/** All that the calls of this response still wait for. */
function suspension(loop: Loop): Suspension {
  const { id: session } = sessionOf(loop);
  const open = openWaits(loop);
  const waits = open.flatMap(({ kinds, until }): readonly Wait[] => [
    ...(kinds ?? ["*"]).map((name): Wait => ({ type: "signal", name, session })),
    ...(until === undefined ? [] : [{ type: "timer", at: until } as const]),
  ]);
  return new Suspension(open.every(({ kinds }) => kinds?.length === 0) ? "awaiting-timer" : "awaiting-signal", waits);
}
