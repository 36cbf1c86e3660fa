import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { askHooks, tellHooks } from "./ask-hooks.ts";
import { haltedBy } from "./halted-by-hook.ts";
import { hooksAt, hooksOf } from "./loop-hooks.ts";

/** Before the first turn of a run. In a session that holds earlier turns it counts as resumed. */
export function beforeFirstTurn(loop: Loop): Promise<void> | undefined {
  const hooks = hooksOf(loop);
  if (hooks === undefined) return undefined;
  hooks.resumed = false;
  const { totals } = sessionOf(loop);
  return ask(loop, "prologue/hooks/session-start", totals.turns > 0 || totals.modelCalls > 0);
}

/** When a run that waited, or whose process ended, is taken up again. */
export function beforeGoingOn(loop: Loop): Promise<void> | undefined {
  const hooks = hooksOf(loop);
  if (hooks === undefined || !hooks.resumed) return undefined;
  hooks.resumed = false;
  return ask(loop, `resume/${runOf(loop).resumes}/hooks/session-start`, true);
}

async function ask(loop: Loop, key: string, resumed: boolean): Promise<void> {
  const hooks = hooksAt(loop, "session-start", undefined);
  if (hooks === undefined) return;
  const payload = { sessionId: loop.execution.session, resumed };
  const verdict = await askHooks(loop, { point: "session-start", key, hooks, payload });
  if (verdict?.type === "abort") throw haltedBy(verdict);
}

/** What is done between the result of a run and its terminal event. */
export const sessionEndStage: { applies(loop: Loop): boolean; run(loop: Loop): Promise<void> | undefined } = {
  applies: (loop) => hooksOf(loop)?.byPoint["session-end"] !== undefined,
  run(loop) {
    const hooks = hooksAt(loop, "session-end", undefined);
    if (hooks === undefined) return undefined;
    const reason = runOf(loop).ending?.reason ?? "error";
    return tellHooks(loop, {
      point: "session-end",
      key: "epilogue/hooks/session-end",
      hooks,
      payload: { sessionId: loop.execution.session, reason },
    });
  },
};
