import { describeThrown } from "../../../tools/describe-thrown.ts";
import { describeValue } from "../../../tools/describe-value.ts";
import { runContext } from "../../turn/run-context.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import type { AfterTurn, BeforeTurn, TurnContext, TurnEnd } from "../../definition/hooks/turn-callback.ts";
import type { Step } from "../../turn/moments.ts";

/** Asks `beforeTurn`, once for each turn; its verdict is a recorded decision. */
async function askBeforeTurn(loop: Loop, turn: string, beforeTurn: BeforeTurn): Promise<void> {
  const verdict = await loop.execution.decide(`${turn}/before-turn`, async () => {
    const result: unknown = await beforeTurn(turnContext(loop));
    if (result === undefined || result === null) return null;
    const { type, reason } = result as { readonly type?: unknown; readonly reason?: unknown };
    if (type === "continue") return null;
    if (type === "abort" && typeof reason === "string") return { reason };
    throw new TypeError(`beforeTurn must return nothing, { type: "continue" } or { type: "abort", reason }, not ${describeValue(result)}`);
  });
  if (verdict !== null) throw new RunEnding("halted", { halted: { by: "hook", reason: verdict.reason } });
}

/** Tells `afterTurn` how the open turn went, once. It looks on: what it throws is a warning. */
async function callAfterTurn(loop: Loop, afterTurn: AfterTurn, end: TurnEnd): Promise<void> {
  const { execution } = loop;
  const run = runOf(loop);
  const key = `t${run.turn}/after-turn`;
  if (!run.turnOpen || execution.has(key)) return;
  try {
    // It looks on: in a rehearsal there is nothing to see.
    if (execution.outside === undefined) await afterTurn(turnContext(loop), end);
  } catch (error) {
    execution.emit({ type: "status", status: `afterTurn failed: ${describeThrown(error)}`, level: "warn" });
  }
  execution.put(key, "turn-told", {});
}

export const beforeTurnStep: Step = {
  name: "beforeTurn",
  applies: ({ agent }) => agent.options.beforeTurn !== undefined,
  run: (loop, { turn }) => askBeforeTurn(loop, turn, loop.agent.options.beforeTurn as BeforeTurn),
};

export const afterTurnStep: Step = {
  name: "afterTurn",
  applies: ({ agent }) => agent.options.afterTurn !== undefined,
  run: (loop) => callAfterTurn(loop, loop.agent.options.afterTurn as AfterTurn, { type: "ok" }),
};

/** Tells `afterTurn` that the run ends in the turn. */
export async function callAfterFailedTurn(loop: Loop, { reason, details: { failure } }: RunEnding): Promise<void> {
  const { afterTurn } = loop.agent.options;
  if (afterTurn !== undefined) await callAfterTurn(loop, afterTurn, { type: "failed", reason, ...(failure && { failure }) });
}

function turnContext(loop: Loop): TurnContext {
  return { ...runContext(loop, 0), turn: runOf(loop).turn };
}
