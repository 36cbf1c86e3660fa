import { textMessage, type JsonValue, type Message, type SuspendReason, type Wait } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import { chargeTurn } from "../budget/charge-budget.ts";
import { markTurn } from "../budget/mark-budgets.ts";
import { summariseIfMarked } from "../middleware/summarise-if-marked.ts";
import { showEvents } from "../plugins/call-plugins.ts";
import { endRun } from "./end-run.ts";
import type { Answer } from "./answer.ts";
import { inferAnswer } from "./infer-answer.ts";
import { runContext } from "./run-context.ts";
import type { RunContext } from "../agent.ts";
import { awaitBackground, beforeSuspending, collectBackground, isBackgroundOpen, takeUpBackground } from "../children/await-background.ts";
import { carryOutDirectives, hasOpenDirectives } from "../effects/carry-out.ts";
import { runOf, type Loop } from "./loop.ts";
import { beforeGoingOn } from "../hooks/session-hooks.ts";
import { askBeforeTurn, tellAfterTurn, tellFailedTurn } from "../hooks/turn-callbacks.ts";
import { runPrologue } from "./prologue.ts";
import { givesAnswer } from "../output/answer-call.ts";
import { settleAnswer, textOf } from "../output/settle-answer.ts";
import { readInbox } from "./read-inbox.ts";
import { runCalls } from "./run-calls.ts";
import { checkEnding, endingOf, RunEnding } from "./run-ending.ts";

/** What whoever drives a run does next. */
export type Next =
  | { readonly type: "now" }
  | { readonly type: "waiting"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "done" };

const NOW: Next = { type: "now" };
const MAX_PAUSES = 8;
const GO_ON: Message = textMessage(
  "user",
  "Your answer was cut off at its token limit. Go on exactly where it stopped, without repeating anything.",
);

/**
 * Works one turn of a run, or goes on with the one that is open: what the log holds of it is read, the rest is done. Rejects
 * only when the log fails; all else is an ending or a wait.
 */
export async function workTurn(loop: Loop): Promise<Next> {
  try {
    await work(loop);
    return NOW;
  } catch (error) {
    if (error instanceof Suspension) {
      const suspension = await beforeSuspending(loop, error);
      return suspension ? suspend(loop, suspension) : NOW;
    }
    const ending = endingOf(error, loop);
    const isNew = runOf(loop).ending === undefined;
    const { afterTurn } = loop.agent.options;
    if (afterTurn !== undefined && isNew) await tellFailedTurn(loop, afterTurn, ending);
    if (ending.reason !== "complete") loop.output = undefined;
    await endRun(loop, ending, loop.output);
    return { type: "done" };
  }
}

async function work(loop: Loop): Promise<void> {
  const { execution, limits, context, plugins } = loop;
  const run = runOf(loop);
  if (run.ending) {
    loop.output = loop.value = run.ending.output;
    throw new RunEnding(run.ending.reason, run.ending);
  }
  takeUpBackground(loop);
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
  const { beforeTurn, afterTurn } = loop.agent.options;
  if (beforeTurn !== undefined) await askBeforeTurn(loop, turn, beforeTurn);
  const summarising = loop.agent.middleware && summariseIfMarked(loop, turn);
  if (summarising !== undefined) await summarising;
  const prompt = systemPrompt(loop);
  const system = prompt instanceof Promise ? await prompt : prompt;
  const { form } = loop;
  loop.output = undefined;
  loop.repairing = false;
  let modelCall = 0;
  let pauses = 0;
  let begun = "";
  for (let round = 0; ; round++) {
    const answer = await inferAnswer(loop, turn, modelCall, system);
    modelCall = answer.modelCall + 1;
    if (answer.overflowed) throw new RunEnding("max-output");
    if (answer.calls.length > 0 && !(form !== undefined && givesAnswer(form, answer.calls))) {
      await runCalls(loop, turn, answer.calls, answer.stopReason === "max-tokens");
      break;
    }
    if (answer.stopReason === "pause" && ++pauses <= MAX_PAUSES) continue;
    if (answer.stopReason === "max-tokens" && loop.agent.options.onMaxTokens === "continue" && saidPart(answer)) {
      const key = `${turn}/continue/${round}`;
      await context.run({
        type: "inject-message",
        key,
        input: { message: GO_ON } as unknown as JsonValue,
        execute: (_context, input) => {
          execution.put(`${key}/message`, { type: "message", message: (input as unknown as { readonly message: Message }).message });
        },
      });
      begun += textOf(answer.message);
      loop.partials?.goOn(begun);
      continue;
    }
    const settled = form === undefined || isCutText(answer) ? undefined : await settleAnswer(loop, form, turn, answer, begun);
    begun = "";
    loop.partials?.goOn(begun);
    if (settled === "again") {
      loop.repairing = true;
      continue;
    }
    // Whoever steered while the model gave its final answer gets one more turn.
    if (execution.hasUnread) await readInbox(loop, `${turn}/final`);
    // What a directive routes back is worth another turn, too.
    if (hasOpenDirectives(loop) && !cutShort(answer)) await carryOutDirectives(loop, `${turn}/final/directives`);
    if (context.messages.at(-1)?.role === "user") {
      loop.output = undefined;
      break;
    }
    if (afterTurn !== undefined && !cutShort(answer)) await tellAfterTurn(loop, afterTurn, { type: "ok" });
    await checkExit(loop, turn);
    if (hasOpenDirectives(loop) && !cutShort(answer)) {
      await carryOutDirectives(loop, `${turn}/exit/directives`);
      if (context.messages.at(-1)?.role === "user") {
        loop.output = undefined;
        break;
      }
    }
    if (run.handedOff) throw new RunEnding("handed-off");
    if (isBackgroundOpen(loop) && !cutShort(answer)) {
      await awaitBackground(loop, turn);
      if (context.messages.at(-1)?.role === "user") {
        loop.output = undefined;
        break;
      }
    }
    throw new RunEnding(settled === "taken" ? "complete" : finalReason(answer));
  }
  if (hasOpenDirectives(loop)) await carryOutDirectives(loop, `${turn}/directives`);
  if (afterTurn !== undefined) await tellAfterTurn(loop, afterTurn, { type: "ok" });
  if (plugins !== undefined && plugins.onEvent.length > 0) await showEvents(loop, plugins, turn);
  if (context.rules.length > 0) await checkExit(loop, turn);
  checkEnding(loop);
  if (run.handedOff) throw new RunEnding("handed-off");
  execution.put(`${turn}/end`, { type: "turn-end", turn: number });
  if (limits.maxDurationMs !== undefined || execution.deadline !== undefined) await execution.flush();
}

async function checkExit(loop: Loop, turn: string): Promise<void> {
  await loop.context.run({ type: "exit-check", key: `${turn}/exit`, execute: () => {} });
}

function finalReason(answer: Answer): RunEnding["reason"] {
  if (answer.stopReason === "content-filter") return "safety-stop";
  if (answer.stopReason === "max-tokens") return "max-output";
  return nothingSaid(answer) ? "no-action" : "complete";
}

function cutShort({ stopReason }: Answer): boolean {
  return stopReason === "content-filter" || stopReason === "max-tokens";
}

/** Of a call that was cut off there is nothing that could be gone on with. */
function saidPart(answer: Answer): boolean {
  return answer.calls.length === 0 && !nothingSaid(answer);
}

function isCutText(answer: Answer): boolean {
  return answer.calls.length === 0 && cutShort(answer);
}

function nothingSaid(answer: Answer): boolean {
  return answer.message.content.every((part) => part.type === "thinking" || (part.type === "text" && part.text === ""));
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

/** The instructions of this run: a function is asked once, then its answer is read from the log. */
function systemPrompt(loop: Loop): string | undefined | Promise<string | undefined> {
  const { instructions } = loop.agent.options;
  if (typeof instructions !== "function") return promptFrom(loop, instructions);
  return askInstructions(loop, instructions).then((text) => promptFrom(loop, text));
}

function promptFrom(loop: Loop, base: string | undefined): string | undefined {
  const change = loop.agent.options.systemPrompt;
  const own = change?.type === "replace" ? change.content : joined(base, change?.content);
  const whole = joined(joined(own, loop.agent.middleware?.promptAddition), runOf(loop).terms?.systemAddendum);
  return joined(whole, loop.form?.instructions);
}

function joined(text: string | undefined, addition: string | undefined): string | undefined {
  return text === undefined || text === "" || addition === undefined || addition === "" ? text || addition : `${text}\n\n${addition}`;
}

async function askInstructions(loop: Loop, instructions: (context: RunContext) => string | Promise<string>): Promise<string> {
  const known = runOf(loop).instructions;
  if (known !== undefined) return known;
  const text = await loop.execution.decide("instructions/decision", async () => {
    const answer: unknown = await instructions(runContext(loop, 0));
    if (typeof answer !== "string") throw new TypeError(`the instructions must be a text, not ${typeof answer}`);
    return answer;
  });
  loop.execution.note("instructions", "instructions", { text });
  return text;
}

async function suspend(loop: Loop, suspension: Suspension): Promise<Next> {
  const { execution } = loop;
  execution.put(`suspend/${runOf(loop).resumes}`, { type: "run-suspend", reason: suspension.reason, waits: suspension.waits }, "power");
  await execution.flush();
  return { type: "waiting", reason: suspension.reason, waits: suspension.waits };
}
