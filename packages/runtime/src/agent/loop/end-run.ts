import type { EndReason, JsonValue } from "@keelson/protocol";
import { endBackground, isBackgroundOpen } from "../features/children/await-background.ts";
import { openCalls } from "../../session/open-calls.ts";
import { lastTextOf, type RunState } from "../../session/session-state.ts";
import { Suspension } from "../../session/suspension.ts";
import { notifiedStep } from "../features/hooks/notification-hooks.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import type { RunEnding } from "../turn/run-ending.ts";
import { settleUnseen } from "./settle-inference.ts";
import { mayHaveRun } from "./tool-call-ledger.ts";
import { backgroundOf } from "../features/children/background.ts";
import { endsProcesses } from "../turn/ends-processes.ts";
import { momentsOf, appliesAt, passMoment } from "../turn/moments.ts";

/**
 * Ends a run for good: open calls get their results, so that the history stays whole; the open turn is closed; the result is
 * committed, then the terminal event; inferences that nobody saw the end of are paid. All in one append, on disk before anybody
 * is told; in two where something is to be done once the result is sure.
 */
export async function endRun(loop: Loop, ending: RunEnding, output?: JsonValue): Promise<void> {
  const { execution } = loop;
  const run = runOf(loop);
  const turn = `t${run.turn}`;
  if (run.children !== undefined) await leaveNoneElsewhere(loop, ending, output);
  backgroundOf(loop)?.close();
  if (isBackgroundOpen(loop)) await endBackground(loop);
  if (run.children !== undefined) await backgroundOf(loop)?.endCalled();
  if (run.turnOpen) {
    for (const { type, key } of [...run.open.values()]) if (type === "inference") await settleUnseen(loop, key.slice(run.id.length + 1));
    for (const part of openCalls(sessionOf(loop).conversation.messages)) {
      const key = `${turn}/call/${part.id}`;
      const output = `Not finished: the run ended (${ending.reason}).${mayHaveRun(loop, { key }) ? " It was started and may have taken effect: look before you repeat it." : ""}`;
      execution.put(`${key}/result`, "tool-result", { callId: part.id, name: part.name, output, isError: true, durationMs: 0 });
    }
    if (run.callsOpen) execution.put(`${turn}/calls-closed`, "tool-calls-complete", {});
    execution.put(`${turn}/end`, "turn-end", { turn: run.turn });
  }
  const { usage, cost, costKnown, estimated, turns } = run.totals;
  const { failure, ...told } = ending.details;
  const result = resultOf(run, ending, output);
  if (!failure) execution.put("result", "run-result", result, "power");
  const place = { turn, number: run.turn };
  // Not where the way the run ends was known, and its process ended in what follows again and again.
  const mayFollow = run.ending === undefined || !endsProcesses(run);
  if (mayFollow && momentsOf(loop).afterResult.some((step) => appliesAt(loop, step, place))) {
    execution.put("ending", "run-ending", { ...result, ...ending.details }, "power");
    await execution.flush();
    // A crash in between finds the ending in the log and goes on here.
    await passMoment(loop, momentsOf(loop).afterResult, place);
  }
  // What a notification hook makes of its time is told before the end, after which nothing is.
  await passMoment(loop, [notifiedStep], place);
  if (failure) execution.put("terminal", "error", { failure }, "power");
  else
    execution.put(
      "terminal",
      "run-complete",
      {
        ...result,
        usage,
        cost: costKnown ? cost : null,
        ...(estimated && { estimated }),
        turns,
        ...told,
      },
      "power",
    );
  await execution.flush();
}

function resultOf(run: RunState, { reason }: RunEnding, output: JsonValue | undefined): EndingResult {
  // An output that was given by a call has no text of its own.
  const said = lastTextOf(run);
  const text = said === "" && output !== undefined ? JSON.stringify(output) : said;
  return { reason, text, ...(output !== undefined && { output }) };
}

interface EndingResult {
  readonly reason: EndReason;
  readonly text: string;
  readonly output?: JsonValue;
}

/**
 * No child that works elsewhere is left at work behind a run that is over: it is told to end, and waited for.
 * @throws Suspension while any of them is at work. How the run ends stands in the log then, and is what it goes on with.
 */
async function leaveNoneElsewhere(loop: Loop, ending: RunEnding, output: JsonValue | undefined): Promise<void> {
  const { execution } = loop;
  const run = runOf(loop);
  const waits = (await backgroundOf(loop)?.stopElsewhere(ending.reason === "aborted" ? "abort" : "stop")) ?? [];
  if (waits.length === 0) return;
  if (run.ending === undefined) execution.put("ending", "run-ending", { ...resultOf(run, ending, output), ...ending.details }, "power");
  throw new Suspension("awaiting-child", waits);
}
