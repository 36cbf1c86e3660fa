import { carryOutDirectives, hasOpenDirectives } from "../effects/carry-out.ts";
import { tellAfterTurn } from "../hooks/turn-callbacks.ts";
import { showEvents } from "../plugins/call-plugins.ts";
import { runOf, type Loop } from "./loop.ts";
import { checkEnding, RunEnding } from "./run-ending.ts";

/** Ends a turn after which the run goes on: directives, the callback after it, plugins, exit rules, then `turn-end`. */
export async function closeTurn(loop: Loop, turn: string): Promise<void> {
  const { execution, limits, context, plugins } = loop;
  const run = runOf(loop);
  const { afterTurn } = loop.agent.options;
  if (hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/directives`);
  if (afterTurn !== undefined) await tellAfterTurn(loop, afterTurn, { type: "ok" });
  if (plugins !== undefined && plugins.onEvent.length > 0) await showEvents(loop, plugins, turn);
  if (context.rules.length > 0) await checkExit(loop, turn);
  checkEnding(loop);
  if (run.handedOff) throw new RunEnding("handed-off");
  execution.put(`${turn}/end`, { type: "turn-end", turn: run.turn });
  if (limits.maxDurationMs !== undefined || execution.deadline !== undefined) await execution.flush();
}

/** Rules may halt here, or inject what the run goes on with. */
export async function checkExit(loop: Loop, turn: string): Promise<void> {
  await loop.context.run({ type: "exit-check", key: `${turn}/exit`, execute: () => {} });
}
