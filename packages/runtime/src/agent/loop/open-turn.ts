import { chargeTurn } from "../features/budget/charge-budget.ts";
import { markTurn } from "../features/budget/mark-budgets.ts";
import { collectBackground, isBackgroundOpen } from "../features/children/await-background.ts";
import { carryOutDirectives, hasOpenDirectives } from "../features/effects/carry-out.ts";
import { beforeGoingOn } from "../features/hooks/session-hooks.ts";
import { askBeforeTurn } from "../features/hooks/turn-callbacks.ts";
import { summariseIfMarked } from "../features/middleware/summarise-if-marked.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { runPrologue } from "./prologue.ts";
import { checkEnding, RunEnding, timeoutEnding } from "../turn/run-ending.ts";
import { stuckEnding } from "./stuck-ending.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { meterOf } from "../features/budget/budget-meter.ts";

/**
 * Begins a turn, or goes on with the one that is open: what others wrote, what background work and directives brought, limits,
 * then the callback before it. @returns the place of the turn in the log; a promise only where something has to be waited for
 */
export function openTurn(loop: Loop): string | Promise<string> {
  const run = runOf(loop);
  const number = run.turnOpen ? run.turn : run.turn + 1;
  const turn = `t${number}`;
  const { beforeTurn } = loop.agent.options;
  // Whether there may be more to do than to look at the limits.
  const hasWork =
    number === 1 ||
    beforeTurn !== undefined ||
    loop.agent.middleware !== undefined ||
    hooksOf(loop)?.resumed ||
    meterOf(loop)?.counts.turns ||
    loop.execution.hasUnread ||
    hasOpenDirectives(loop) ||
    isBackgroundOpen(loop);
  if (hasWork) return openAfterWork(loop, turn, number);
  if (!run.turnOpen) {
    checkLimits(loop);
    putStart(loop, turn, number);
  }
  return turn;
}

async function openAfterWork(loop: Loop, turn: string, number: number): Promise<string> {
  const { execution, agent } = loop;
  const run = runOf(loop);
  if (number === 1 && !run.turnOpen) await runPrologue(loop);
  else if (hooksOf(loop)?.resumed) await beforeGoingOn(loop);
  if (!run.turnOpen) {
    if (execution.hasUnread) await loop.readInbox(turn);
    const collecting = collectBackground(loop);
    if (collecting !== undefined) await collecting;
    if (hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/begin`);
    checkLimits(loop);
    if (meterOf(loop)?.counts.turns) await chargeTurn(loop, turn);
    putStart(loop, turn, number);
  }
  const { beforeTurn } = agent.options;
  if (beforeTurn !== undefined) await askBeforeTurn(loop, turn, beforeTurn);
  const summarising = agent.middleware && summariseIfMarked(loop, turn);
  if (summarising !== undefined) await summarising;
  return turn;
}

function putStart(loop: Loop, turn: string, number: number): void {
  loop.execution.put(`${turn}/start`, "turn-start", { turn: number, model: runOf(loop).model });
  const meter = meterOf(loop);
  if (meter !== undefined && number >= meter.firstMarkedTurn) markTurn(loop, meter, number);
}

function checkLimits(loop: Loop): void {
  checkEnding(loop);
  const { limits, execution } = loop;
  const run = runOf(loop);
  const { at } = execution.journal.state;
  if (execution.deadline !== undefined && at > execution.deadline) throw timeoutEnding(loop, at);
  if (limits.maxDurationMs !== undefined && at - run.startedAt > limits.maxDurationMs) throw timeoutEnding(loop, at);
  if (run.failedTurns >= limits.maxFailedTurns) throw stuckEnding(loop);
  const { turns } = run.totals;
  if (turns >= limits.maxTurns) throw new RunEnding("max-turns", { limit: { name: "maxTurns", limit: limits.maxTurns, used: turns } });
}
