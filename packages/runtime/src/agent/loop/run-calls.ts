import type { CallSummary, StepResult, ToolCallPart } from "@keelson/protocol";
import { isDispatchTool } from "../../tools/dispatch-tool.ts";
import { planBatches } from "../../tools/plan-batches.ts";
import { countOnBudget } from "../features/budget/charge-budget.ts";
import { chargeToolCalls } from "../features/budget/charge-tool-calls.ts";
import { markToolCalls, overspentBudget } from "../features/budget/mark-budgets.ts";
import { askPeople, endIfAborted, type Question } from "./ask-approval.ts";
import { passEditedArguments, passGates } from "./pass-gates.ts";
import { refuse, type PendingCall } from "../turn/pending-call.ts";
import { afterTools, addHookRemarks } from "../features/hooks/tool-hooks.ts";
import { executedOf, type Execution } from "../turn/call-result.ts";
import { commitJudged, commitResult, suspensionOf, type BatchEnding } from "./commit-results.ts";
import { executeCall } from "./execute-call.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { OUTPUT_TOO_EARLY, isOutputCall } from "../features/output/output-call.ts";
import { runBuiltInCall, isBuiltInCall } from "./built-in-call.ts";
import { registerWaits } from "../features/signals/open-waits.ts";
import { isWaitForSignalTool } from "../definition/signals/wait-for-signal-tool.ts";
import { checkMoved, mayMove } from "../features/strategies/enforce-strategy.ts";
import { settleOutdatedCalls } from "./settle-outdated-calls.ts";
import { isUnknown, mayHaveRun, reserveCall, resolveUnknown } from "./tool-call-ledger.ts";
import { constraintOn } from "../features/strategies/constraint.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { momentsOf } from "../turn/moments.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";
import { outputOf } from "../features/output/run-output.ts";

const MAX_EDITS = 3;
const NONE: readonly PendingCall[] = [];

/** Works the calls of one response: all through the gates, one after another; then in batches. The result of every call gets into the log. */
export async function runCalls(loop: Loop, turn: string, parts: readonly ToolCallPart[], cut: boolean): Promise<void> {
  const { execution } = loop;
  const calls: PendingCall[] = [];
  const summaries: CallSummary[] = [];
  for (const part of parts) {
    const { id, name, input, inputText } = part;
    calls.push({ part, index: calls.length, key: `${turn}/call/${id}`, number: 1, edits: 0 });
    summaries.push({ callId: id, name, inputText, ...(input !== undefined && { input }) });
  }
  const key = `${turn}/calls/${parts[0]?.id ?? ""}`;
  // All that the log says of a call stands behind this record.
  const isResumed = execution.has(key);
  execution.put(key, "tool-calls-start", { calls: summaries });
  const open = isResumed ? calls.filter((call) => !execution.has(`${call.key}/result`)) : calls;
  const { form } = outputOf(loop);
  if (form?.tool !== undefined) for (const call of calls) if (isOutputCall(form, call.part)) refuse(call, OUTPUT_TOO_EARLY);
  const last = calls.at(-1);
  if (cut && last)
    refuse(
      last,
      "The response was cut off at its token limit while this call was being written, so it did not run. Call again with shorter arguments, or in smaller steps.",
    );
  const outdated = runOf(loop).outdated ? open.filter((call) => call.answer === undefined) : NONE;
  let asks = false;
  let waits = false;
  for (const call of open) {
    await passGates(loop, call, momentsOf(loop).gates);
    asks ||= call.ask !== undefined;
    waits ||= call.tool !== undefined && isWaitForSignalTool(call.tool);
  }
  if (outdated.length > 0) await settleOutdatedCalls(loop, outdated);
  for (const call of open)
    if (call.answer !== undefined && call.settled !== true && mayHaveRun(loop, call))
      refuse(
        call,
        `This call was started before the process ended, and it can't be gone on with: ${String(call.answer.output)} It may have taken effect: look before you repeat it.`,
      );
  if (asks) await settleQuestions(loop, open);
  if (waits) registerWaits(loop, open);
  if (hooksOf(loop)?.afterTools && open.length < calls.length)
    await afterTools(
      loop,
      calls.filter((call) => !open.includes(call)),
    );
  const batches = open.length === 1 ? [open] : batchesOf(loop, open);
  for (let index = 0; index < batches.length; index++) {
    const batch = batches[index] as readonly PendingCall[];
    loop.debug?.(`batch ${index + 1} of ${batches.length}: ${batch.map(({ part }) => `${part.name} ${part.id}`).join(", ")}`);
    if (execution.hasUnread) await loop.readInbox(`${turn}/batch/${index}`);
    await runBatch(loop, batch, isResumed);
    if (execution.hasUnread) await loop.readInbox(`${turn}/batch/${index}/after`);
  }
  if (loop.context.watches("steering-skip") && calls.some((call) => call.skipped)) await notifyRulesOfSkipped(loop, turn, calls);
  const meter = meterOf(loop);
  if (meter?.own.toolCalls !== undefined) markToolCalls(loop, meter);
  execution.put(`${turn}/calls-done/${parts[0]?.id ?? ""}`, "tool-calls-complete", {});
  if (hooksOf(loop)?.afterTools) addHookRemarks(loop, turn, calls);
}

/** Asks about the calls that a gate wants asked about, until each has a result or may run. */
async function settleQuestions(loop: Loop, calls: readonly PendingCall[]): Promise<void> {
  for (let round = 1; ; round++) {
    const asking = calls.filter((call) => call.answer === undefined && call.ask !== undefined);
    if (asking.length === 0) return;
    const decisions = await askPeople(
      loop,
      asking.map((call): Question => ({
        type: "approval",
        callId: call.part.id,
        key: call.key,
        round,
        tool: call.tool as NonNullable<PendingCall["tool"]>,
        input: call.input ?? null,
        reason: call.ask ?? "",
        ...(call.always && { always: call.always }),
      })),
    );
    for (const [index, decision] of decisions.entries()) {
      const call = asking[index] as PendingCall;
      endIfAborted(decision);
      switch (decision.type) {
        case "allow":
        case "allow-always":
          delete call.ask;
          break;
        case "allow-modified": {
          const asked = call.ask;
          call.edits++;
          await passEditedArguments(loop, call, decision.input);
          if (call.answer?.isError && call.invalid && call.edits < MAX_EDITS) {
            call.ask = `The edited arguments are not valid: ${String(call.answer.output)} (${asked})`;
            delete call.answer;
          } else delete call.ask;
          break;
        }
        case "deny":
          refuse(
            call,
            `A person declined this call${decision.reason ? `: ${decision.reason}` : ""}. Do not try it again in another form; go on without it or ask what to do.`,
          );
          break;
        default:
          refuse(call, `The question was answered with "${decision.type}", which does not answer it; the call did not run.`);
      }
    }
  }
}

/** Rules may note which calls a steering message pushed aside. */
async function notifyRulesOfSkipped(loop: Loop, turn: string, calls: readonly PendingCall[]): Promise<void> {
  const skipped = calls.filter((call) => call.skipped);
  const names = skipped.map((call) => ({ callId: call.part.id, name: call.tool?.name ?? call.part.name }));
  await loop.context.run({
    type: "steering-skip",
    key: `${turn}/steering-skip`,
    input: { calls: names },
    inputIsFixed: true,
    execute: () => {},
  });
}

function batchesOf(loop: Loop, calls: readonly PendingCall[]): readonly (readonly PendingCall[])[] {
  return planBatches(calls as readonly (PendingCall & { readonly tool: NonNullable<PendingCall["tool"]> })[], {
    maxParallelCalls: loop.limits.maxParallelCalls,
    decideConcurrency: (call) => (call.answer !== undefined ? "shared" : mayMove(loop, call) ? "exclusive" : call.tool.concurrency),
  });
}

/**
 * Reserves in one append, executes together, commits in one append in call order.
 * @param isResumed the log may hold more of these calls than that they were asked for
 */
async function runBatch(loop: Loop, batch: readonly PendingCall[], isResumed: boolean): Promise<void> {
  const { execution } = loop;
  const mayChange = ledgerOf(loop).scopes.length > 0 && batch.some((call) => call.answer === undefined && call.tool?.effect !== "read");
  const overspent = mayChange ? await overspentBudget(loop) : undefined;
  const run = runOf(loop);
  const stopped = loop.attempts.runAborted || run.stopping !== undefined;
  // Seldom so; else the log need not be asked.
  if (stopped || run.interrupted || overspent !== undefined || constraintOn(loop) !== undefined)
    for (const call of batch) if (call.answer === undefined) withhold(loop, call, stopped, overspent);
  const [first] = batch;
  if (first && isBuiltInCall(first)) await runBuiltInCall(loop, first);
  const unknown = isResumed ? batch.filter((call) => call.answer === undefined && isUnknown(loop, call)) : NONE;
  // Whatever comes out about them, they were started: a ledger that died with the process does not know that.
  if (meterOf(loop)?.counts.toolCalls) for (const call of unknown) await countOnBudget(loop, call.key, { toolCalls: 1 });
  if (unknown.length > 0) await resolveUnknown(loop, unknown);
  if (meterOf(loop)?.counts.toolCalls) await chargeToolCalls(loop, batch);
  // Nothing waits between these reservations and the append that keeps them: a call that is reserved has started, or the process died.
  const starting: PendingCall[] = [];
  for (const call of batch)
    if (call.answer === undefined) {
      if (call.tool?.effect !== "read") reserveCall(loop, call);
      starting.push(call);
    }
  if (starting.length > 0) {
    await execution.flush();
    const attempting = execution.attempts(starting, (call, { signal }) => executeCall(loop, call, signal));
    const settled = attempting instanceof Promise ? await attempting : attempting;
    for (let index = 0; index < starting.length; index++)
      (starting[index] as PendingCall).result = executedOf(settled[index] as StepResult<Execution>);
  }
  const ending: BatchEnding = {};
  try {
    if (loop.context.watches("execute-tool", "after")) await commitJudged(loop, batch, ending);
    else for (const call of batch) commitResult(loop, call, ending);
  } finally {
    if (hooksOf(loop)?.afterTools) await afterTools(loop, batch);
  }
  if (ending.thrown !== undefined) throw ending.thrown.error;
  if (ending.suspensions !== undefined) throw suspensionOf(ending.suspensions);
}

/** Gives calls that may no longer start their result: the run was told to stop, was steered away, or spent its money. */
function withhold(loop: Loop, call: PendingCall, stopped: boolean, overspent: string | undefined): void {
  if (mayHaveRun(loop, call)) {
    // A child is told to stop, and ends, where it is started again.
    if (stopped && !(call.tool && isDispatchTool(call.tool)))
      refuse(
        call,
        "Interrupted: the process ended while this call ran, and then the run was stopped. It may have taken effect: look before you repeat it.",
      );
  } else if (stopped) refuse(call, "Not run: the run was stopped before this call started.");
  else if (runOf(loop).interrupted) {
    refuse(call, "Not run: the user sent a new message first. Read it, then decide again.");
    call.skipped = true;
  } else if (overspent !== undefined && call.tool?.effect !== "read") refuse(call, overspent);
  else checkMoved(loop, call);
}
