import { cutShort, saysNothing, type ModelResponse } from "../turn/model-response.ts";
import type { Loop } from "../turn/loop.ts";
import { momentsOf, passMoment, type Place } from "../turn/moments.ts";
import { RunEnding } from "../turn/run-ending.ts";
import { outputOf } from "../features/output/run-output.ts";

const NOTHING_SAID = "The model ended the run with an empty response: there is no closing text.";

/**
 * After a response that asks for nothing more. Returns where something was said that is worth another turn: late steering, what
 * a directive routes back, what a rule injects, what background work brings. Else it throws how the run ends.
 * @param isOutput the response was taken as the structured output
 */
export async function concludeRun(loop: Loop, place: Place, response: ModelResponse, isOutput: boolean): Promise<void> {
  const at = { ...place, isWhole: !cutShort(response) };
  for (const steps of momentsOf(loop).beforeEnd) {
    await passMoment(loop, steps, at);
    if (goesOn(loop)) return;
  }
  const reason = isOutput ? "complete" : finalReason(response);
  throw new RunEnding(reason, reason === "no-action" ? { why: NOTHING_SAID } : {});
}

/** Whether the model has something to respond to again; what it gave as output is not the last word then. */
function goesOn(loop: Loop): boolean {
  if (loop.context.messages.at(-1)?.role !== "user") return false;
  outputOf(loop).output = undefined;
  return true;
}

function finalReason(response: ModelResponse): RunEnding["reason"] {
  if (response.stopReason === "content-filter") return "safety-stop";
  if (response.stopReason === "max-tokens") return "max-output";
  return saysNothing(response) ? "no-action" : "complete";
}
