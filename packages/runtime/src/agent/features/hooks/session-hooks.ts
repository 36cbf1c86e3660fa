import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";
import { askHooks, notifyHooks } from "./ask-hooks.ts";
import { haltedBy } from "./halted-by-hook.ts";
import { hooksAt, hooksOf } from "./loop-hooks.ts";

/** Before the first turn of a run. In a session that holds earlier turns it counts as resumed. */
export const sessionStartStep: Step = {
  name: "session-start hooks",
  applies: (loop) => hooksOf(loop) !== undefined,
  async run(loop) {
    const { totals } = sessionOf(loop);
    await ask(loop, "prologue/hooks/session-start", totals.turns > 0 || totals.modelCalls > 0);
  },
};

/** When a run that waited, or whose process ended, is taken up again. */
export const sessionResumedStep: Step = {
  name: "session-start hooks",
  applies: (loop) => hooksOf(loop)?.resumed === true,
  run: (loop) => ask(loop, `resume/${runOf(loop).resumes}/hooks/session-start`, true),
};

async function ask(loop: Loop, key: string, resumed: boolean): Promise<void> {
  const all = hooksOf(loop);
  if (all !== undefined) all.resumed = false;
  const hooks = hooksAt(loop, "session-start", undefined);
  if (hooks === undefined) return;
  const payload = { sessionId: loop.execution.session, resumed };
  const verdict = await askHooks(loop, { point: "session-start", key, hooks, payload });
  if (verdict?.type === "abort") throw haltedBy(verdict);
}

/** Between the result of a run and its terminal event. */
export const sessionEndStep: Step = {
  name: "session-end hooks",
  applies: (loop) => hooksOf(loop)?.byPoint["session-end"] !== undefined,
  async run(loop) {
    const hooks = hooksAt(loop, "session-end", undefined);
    if (hooks === undefined) return;
    const reason = runOf(loop).ending?.reason ?? "error";
    await notifyHooks(loop, {
      point: "session-end",
      key: "epilogue/hooks/session-end",
      hooks,
      payload: { sessionId: loop.execution.session, reason },
    });
  },
};
