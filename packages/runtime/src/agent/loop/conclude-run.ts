import { awaitBackground, isBackgroundOpen } from "../features/children/await-background.ts";
import { carryOutDirectives, hasOpenDirectives } from "../features/effects/carry-out.ts";
import { tellAfterTurn } from "../features/hooks/turn-callbacks.ts";
import { cutShort, saysNothing, type Answer } from "../turn/answer.ts";
import { checkExit } from "./close-turn.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { RunEnding } from "../turn/run-ending.ts";

/**
 * After an answer that asks for nothing more. Returns where something was said that is worth another turn: late steering, what
 * a directive routes back, what a rule injects, what background work brings. Else it throws how the run ends.
 * @param isOutput the answer was taken as the structured output
 */
export async function concludeRun(loop: Loop, turn: string, answer: Answer, isOutput: boolean): Promise<void> {
  const { execution } = loop;
  const { afterTurn } = loop.agent.options;
  const isWhole = !cutShort(answer);
  if (execution.hasUnread) await loop.readInbox(`${turn}/final`);
  if (isWhole && hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/final/directives`);
  if (goesOn(loop)) return;
  if (isWhole && afterTurn !== undefined) await tellAfterTurn(loop, afterTurn, { type: "ok" });
  await checkExit(loop, turn);
  if (isWhole && hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/exit/directives`);
  if (goesOn(loop)) return;
  if (runOf(loop).handedOff) throw new RunEnding("handed-off");
  if (isWhole && isBackgroundOpen(loop)) {
    await awaitBackground(loop, turn);
    if (goesOn(loop)) return;
  }
  throw new RunEnding(isOutput ? "complete" : finalReason(answer));
}

/** Whether the model has something to answer again; what it gave as output is not the last word then. */
function goesOn(loop: Loop): boolean {
  if (loop.context.messages.at(-1)?.role !== "user") return false;
  loop.output = undefined;
  return true;
}

function finalReason(answer: Answer): RunEnding["reason"] {
  if (answer.stopReason === "content-filter") return "safety-stop";
  if (answer.stopReason === "max-tokens") return "max-output";
  return saysNothing(answer) ? "no-action" : "complete";
}
