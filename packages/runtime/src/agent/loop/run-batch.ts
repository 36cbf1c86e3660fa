import { subtractUsd } from "@keelson/protocol";
import { isDispatchTool } from "../../tools/dispatch-tool.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { countOnBudget } from "../features/budget/charge-budget.ts";
import { chargeToolCalls } from "../features/budget/charge-tool-calls.ts";
import { overspentBudget, overspentWords } from "../features/budget/mark-budgets.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { afterTools } from "../features/hooks/tool-hooks.ts";
import { constraintOn } from "../features/strategies/constraint.ts";
import { checkMoved } from "../features/strategies/enforce-strategy.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import {
  callAgain,
  endedCall,
  refuse,
  type EndedCall,
  type ReadyCall,
  type RunningCall,
  type SettledCall,
  type WaitingCall,
} from "../turn/pending-call.ts";
import { askForBudget } from "./ask-for-budget.ts";
import { AnswerWait } from "./broker/answer-wait.ts";
import { isBuiltInCall, runBuiltInCall } from "./built-in-call.ts";
import { callBatch } from "./call-batch.ts";
import { commitJudged, commitResult, suspensionOf, type BatchEnding } from "./commit-results.ts";
import { executeCall } from "./execute-call.ts";
import { resolveUnknown } from "./resolve-unknown.ts";
import { settleInterrupted } from "./settle-interrupted.ts";
import { sourcesOf } from "./sources-of.ts";
import { isUnknown, mayHaveRun, reserveCall, wasInterrupted } from "./tool-call-ledger.ts";

type Batch = readonly (ReadyCall | SettledCall)[];

/**
 * Reserves in one append, executes together, commits in one append in call order.
 * @param isResumed the log may hold more of these calls than that they were asked for
 * @returns the calls with their results
 */
export async function runBatch(loop: Loop, batch: Batch, isResumed: boolean): Promise<readonly EndedCall[]> {
  let going = await withholdCalls(loop, batch);
  const [first] = going;
  if (first?.state === "ready" && isBuiltInCall(first)) going = [await runBuiltInCall(loop, first), ...going.slice(1)];
  if (isResumed) going = await resolveInterrupted(loop, going);
  if (meterOf(loop)?.counts.toolCalls) going = await chargeToolCalls(loop, going);
  const ended = await settleInterrupted(loop, await executeReady(loop, going));
  const ending: BatchEnding = {};
  try {
    const sources = await sourcesOf(loop, ended);
    if (loop.context.watches("execute-tool", "after")) await commitJudged(loop, ended, sources, ending);
    else for (const call of ended) commitResult(loop, call, sources, ending);
  } finally {
    if (hooksOf(loop)?.afterTools) await afterTools(loop, ended);
  }
  if (ending.thrown !== undefined) throw ending.thrown.error;
  if (ending.suspensions !== undefined) throw suspensionOf(ending.suspensions);
  return ended;
}

/** Settles calls that may no longer start: the run was told to stop, was steered away, or spent its money. */
async function withholdCalls(loop: Loop, batch: Batch): Promise<Batch> {
  const run = runOf(loop);
  const stopped = loop.attempts.runAborted || loop.execution.interrupting.aborted || run.stopping !== undefined;
  const changing = batch.find((call) => call.state === "ready" && call.tool.effect !== "read");
  const overspent = changing === undefined || stopped ? undefined : await reasonOverspent(loop, changing.key);
  // Seldom so; else the log need not be asked.
  if (!stopped && !run.interrupted && overspent === undefined && constraintOn(loop) === undefined) return batch;
  return batch.map((call) => (call.state === "ready" ? withhold(loop, call, stopped, overspent) : call));
}

/** Returns the reason why no call may change anything any more, unless a person allows more; `undefined` if no budget is overspent. */
async function reasonOverspent(loop: Loop, key: string): Promise<string | undefined> {
  if (ledgerOf(loop).scopes.length === 0) return undefined;
  for (;;) {
    const over = await overspentBudget(loop);
    if (over === undefined) return undefined;
    const missing = over.unit === undefined ? subtractUsd(over.spent, over.limit) : over.spent - over.limit;
    if (!(await askForBudget(loop, key, { refusal: over, missing }))) return overspentWords(loop, over);
  }
}

function withhold(loop: Loop, call: ReadyCall, stopped: boolean, overspent: string | undefined): ReadyCall | SettledCall {
  if (mayHaveRun(loop, call)) {
    // A child is stopped when it is started again. A write that an interrupt cut off is asked about first.
    if (!stopped || isDispatchTool(call.tool) || wasInterrupted(loop, call)) return call;
    return refuse(
      call,
      "Interrupted: the process ended while this call ran, and then the run was stopped. It may have taken effect: look before you repeat it.",
    );
  }
  if (stopped) return refuse(call, "Not run: the run was stopped before this call started.");
  if (runOf(loop).interrupted) return refuse(call, "Not run: the user sent a new message first. Read it, then decide again.", "skipped");
  if (overspent !== undefined && call.tool.effect !== "read") return refuse(call, overspent);
  return checkMoved(loop, call);
}

/** Settles the calls of an earlier process of which nobody knows whether they took effect, or lets them run again. */
async function resolveInterrupted(loop: Loop, batch: Batch): Promise<Batch> {
  const unknown = batch.filter((call) => call.state === "ready").filter((call) => isUnknown(loop, call));
  if (unknown.length === 0) return batch;
  // Whatever comes out about them, they were started: a ledger that died with the process does not know that.
  if (meterOf(loop)?.counts.toolCalls) for (const call of unknown) await countOnBudget(loop, call.key, { toolCalls: 1 });
  const resolved = await resolveUnknown(loop, unknown);
  const byKey = new Map(resolved.map((call) => [call.key, call]));
  return batch.map((call) => byKey.get(call.key) ?? call);
}

/** Executes what is ready, all at once. */
async function executeReady(loop: Loop, batch: readonly (ReadyCall | EndedCall)[]): Promise<readonly EndedCall[]> {
  const { execution } = loop;
  // Nothing waits between these reservations and the append that keeps them: a call that is reserved has started, or the process died.
  const started = batch.map((call): RunningCall | EndedCall => (call.state === "ready" ? reserveCall(loop, call) : call));
  const running = started.filter((call) => call.state === "running");
  if (running.length > 0) await execution.flush();
  const described = callBatch(loop, running);
  const results = await execution.attempts(running, (call, { signal }) => executeCall(loop, call, described, signal));
  const ended = new Map(results.map((result, index) => [running[index]?.key, endedCall(running[index] as RunningCall, result)]));
  return executeAnswered(
    loop,
    started.map((call) => (call.state === "running" ? (ended.get(call.key) as EndedCall) : call)),
  );
}

/** Makes calls again whose questions somebody answered while others of their batch still ran. */
async function executeAnswered(loop: Loop, batch: readonly EndedCall[]): Promise<readonly EndedCall[]> {
  if (!batch.some(waitsForAnswer)) return batch;
  if (loop.execution.hasUnread) await loop.readInbox();
  const going = batch.map((call) => (waitsForAnswer(call) && isAnswered(loop, call) ? callAgain(call) : call));
  return going.some(({ state }) => state === "ready") ? executeReady(loop, going) : batch;
}

function waitsForAnswer(call: EndedCall): call is WaitingCall {
  return call.state === "waiting" && call.suspension instanceof AnswerWait;
}

/** Whether any of its questions got an answer since it was ended. */
function isAnswered(loop: Loop, { suspension: { waits } }: WaitingCall): boolean {
  const decided = new Set([...runOf(loop).questions.values()].flatMap(({ decision, token }) => (decision === undefined ? [] : token)));
  return waits.length === 0 || waits.some((wait) => "token" in wait && decided.has(wait.token));
}
