import { textMessage, type Message } from "@keelson/protocol";
import { messageOperation } from "../../context/message-operation.ts";
import { givesOutput } from "../features/output/output-call.ts";
import { settleOutput, textOf } from "../features/output/settle-output.ts";
import { cutShort, saysNothing, type ModelResponse } from "../turn/model-response.ts";
import { askForClosing } from "./ask-for-closing.ts";
import { concludeRun } from "./conclude-run.ts";
import { inferResponse } from "./infer-response.ts";
import type { Loop } from "../turn/loop.ts";
import { askForRealCall } from "./left-call.ts";
import { runCalls } from "./run-calls.ts";
import { RunEnding } from "../turn/run-ending.ts";
import { partialsOf } from "../features/output/partial-outputs.ts";
import type { Place } from "../turn/moments.ts";
import { outputOf } from "../features/output/run-output.ts";

const MAX_PAUSES = 8;
const GO_ON: Message = textMessage(
  "user",
  "Your answer was cut off at its token limit. Go on exactly where it stopped, without repeating anything.",
);

/**
 * Has the model respond until its calls are done or something new stands behind its response: paused, cut and wrong responses are
 * gone on with in the same turn. Throws how the run ends where the response is the last.
 */
export async function inferAndRunCalls(loop: Loop, place: Place, system: string | undefined): Promise<void> {
  const { turn } = place;
  const { form } = outputOf(loop);
  outputOf(loop).output = undefined;
  outputOf(loop).repairing = false;
  let modelCall = 0;
  let pauses = 0;
  let isClosing = false;
  let begun = "";
  for (let round = 0; ; round++) {
    const response = await inferResponse(loop, turn, modelCall, system);
    modelCall = response.modelCall + 1;
    if (response.overflowed)
      throw new RunEnding("max-output", { why: `the response is longer than maxAnswerBytes, ${loop.limits.maxAnswerBytes} bytes` });
    if (response.calls.length > 0 && !(form !== undefined && givesOutput(form, response.calls))) {
      await runCalls(loop, turn, response.calls, response.stopReason === "max-tokens");
      return;
    }
    // A response by a call is taken as it is: nobody goes on behind a call without a result.
    if (response.stopReason === "pause" && response.calls.length === 0 && ++pauses <= MAX_PAUSES) continue;
    if (response.stopReason === "max-tokens" && loop.agent.options.onMaxTokens === "continue" && saidPart(response)) {
      await askToContinue(loop, `${turn}/continue/${round}`);
      begun += textOf(response.message);
      partialsOf(loop)?.goOn(begun);
      continue;
    }
    if (form === undefined && (await askForRealCall(loop, `${turn}/left-call/${round}`, response))) continue;
    const settled = form === undefined || isCutText(response) ? undefined : await settleOutput(loop, form, turn, response, begun);
    begun = "";
    partialsOf(loop)?.goOn(begun);
    if (form === undefined && !isClosing && (await askForClosing(loop, place, response))) {
      isClosing = true;
      continue;
    }
    if (settled !== "again") return concludeRun(loop, place, response, settled === "taken");
    outputOf(loop).repairing = true;
  }
}

async function askToContinue(loop: Loop, key: string): Promise<void> {
  await loop.context.run(
    messageOperation("inject-message", key, GO_ON, (message) => loop.execution.put(`${key}/message`, "message", { message })),
  );
}

/** Of a call that was cut off there is nothing that could be gone on with. */
function saidPart(response: ModelResponse): boolean {
  return response.calls.length === 0 && !saysNothing(response);
}

function isCutText(response: ModelResponse): boolean {
  return response.calls.length === 0 && cutShort(response);
}
