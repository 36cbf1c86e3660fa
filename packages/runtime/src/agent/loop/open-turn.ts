import { chargeTurn } from "../budget/charge-budget.ts";
import { markTurn } from "../budget/mark-budgets.ts";
import { collectBackground } from "../children/await-background.ts";
import { carryOutDirectives, hasOpenDirectives } from "../effects/carry-out.ts";
import { beforeGoingOn } from "../hooks/session-hooks.ts";
import { askBeforeTurn } from "../hooks/turn-callbacks.ts";
import { summariseIfMarked } from "../middleware/summarise-if-marked.ts";
import { runOf, type Loop } from "./loop.ts";
import { runPrologue } from "./prologue.ts";
import { readInbox } from "./read-inbox.ts";
import { checkEnding, RunEnding } from "./run-ending.ts";

/**
 * Begins a turn, or goes on with the one that is open: what others wrote, what background work and directives brought, limits,
 * then the callback before it. @returns the place of the turn in the log
 */
export async function openTurn(loop: Loop): Promise<string> {
  const { execution, agent } = loop;
  const run = runOf(loop);
  const number = run.turnOpen ? run.turn : run.turn + 1;
  const turn = `t${number}`;
  if (number === 1 && !run.turnOpen) await runPrologue(loop);
  else if (loop.hooks?.resumed) await beforeGoingOn(loop);
  if (!run.turnOpen) {
    if (execution.hasUnread) await readInbox(loop, turn);
    const collecting = collectBackground(loop);
    if (collecting !== undefined) await collecting;
    if (hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/begin`);
    checkLimits(loop);
    if (loop.meter?.counts.turns) await chargeTurn(loop, turn);
    execution.put(`${turn}/start`, { type: "turn-start", turn: number, model: run.model });
    if (loop.meter !== undefined) markTurn(loop, loop.meter, number);
  }
  const { beforeTurn } = agent.options;
  if (beforeTurn !== undefined) await askBeforeTurn(loop, turn, beforeTurn);
  const summarising = agent.middleware && summariseIfMarked(loop, turn);
  if (summarising !== undefined) await summarising;
  return turn;
}

function checkLimits(loop: Loop): void {
  checkEnding(loop);
  const { limits, execution } = loop;
  const run = runOf(loop);
  const { at } = execution.journal.state;
  if (execution.deadline !== undefined && at > execution.deadline) throw new RunEnding("timeout");
  if (limits.maxDurationMs !== undefined && at - run.startedAt > limits.maxDurationMs) throw new RunEnding("timeout");
  if (run.totals.turns >= limits.maxTurns) throw new RunEnding("max-turns");
}
