import { carryOutDirectives, hasOpenDirectives } from "../features/effects/carry-out.ts";
import { tellAfterTurn } from "../features/hooks/turn-callbacks.ts";
import { showEvents } from "../features/plugins/show-events.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { checkEnding, RunEnding } from "../turn/run-ending.ts";
import { pluginsOf } from "../features/plugins/loop-plugins.ts";

/**
 * Ends a turn after which the run goes on: directives, the callback after it, plugins, exit rules, then `turn-end`. A promise only
 * where something has to be waited for.
 */
export function closeTurn(loop: Loop, turn: string): Promise<void> | undefined {
  const plugins = pluginsOf(loop);
  const isFollowed =
    loop.agent.options.afterTurn !== undefined ||
    (plugins !== undefined && plugins.onEvent.length > 0) ||
    loop.context.watches("exit-check") ||
    hasOpenDirectives(loop);
  return isFollowed ? tellTurn(loop, turn) : putEnd(loop, turn);
}

async function tellTurn(loop: Loop, turn: string): Promise<void> {
  const plugins = pluginsOf(loop);
  const { afterTurn } = loop.agent.options;
  if (hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/directives`);
  if (afterTurn !== undefined) await tellAfterTurn(loop, afterTurn, { type: "ok" });
  if (plugins !== undefined && plugins.onEvent.length > 0) await showEvents(loop, plugins.onEvent, turn);
  if (loop.context.watches("exit-check")) await checkExit(loop, turn);
  const ending = putEnd(loop, turn);
  if (ending !== undefined) await ending;
}

function putEnd(loop: Loop, turn: string): Promise<void> | undefined {
  const { execution, limits } = loop;
  const run = runOf(loop);
  checkEnding(loop);
  if (run.handedOff) throw new RunEnding("handed-off");
  execution.put(`${turn}/end`, "turn-end", { turn: run.turn });
  return limits.maxDurationMs !== undefined || execution.deadline !== undefined ? execution.flush() : undefined;
}

/** Rules may halt here, or inject what the run goes on with. */
export async function checkExit(loop: Loop, turn: string): Promise<void> {
  await loop.context.run({ type: "exit-check", key: `${turn}/exit`, execute: () => {} });
}
