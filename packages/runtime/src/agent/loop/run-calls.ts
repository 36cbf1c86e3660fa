import type { CallSummary, ToolCallPart, ToolConcurrency } from "@keelson/protocol";
import { planBatches } from "../../tools/plan-batches.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { markToolCalls } from "../features/budget/mark-budgets.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { addHookRemarks, afterTools } from "../features/hooks/tool-hooks.ts";
import { OUTPUT_TOO_EARLY, isOutputCall } from "../features/output/output-call.ts";
import { outputOf } from "../features/output/run-output.ts";
import { readInboxBeforeGates } from "../features/permissions/run-policies.ts";
import { registerWaits } from "../features/signals/open-waits.ts";
import { mayMove } from "../features/strategies/enforce-strategy.ts";
import type { Loop } from "../turn/loop.ts";
import {
  arrivedCall,
  refuse,
  toolNameOf,
  type ArrivedCall,
  type EndedCall,
  type OpenCall,
  type ReadyCall,
  type SettledCall,
} from "../turn/pending-call.ts";
import { passGates } from "./pass-gates.ts";
import { runBatch } from "./run-batch.ts";
import { mayBeOutdated, settleOutdatedCalls } from "./settle-outdated-calls.ts";
import { settleQuestions } from "./settle-questions.ts";
import { mayHaveRun } from "./tool-call-ledger.ts";

/** Works the calls of one response: all through the gates, one after another; then in batches. The result of every call gets into the log. */
export async function runCalls(loop: Loop, turn: string, parts: readonly ToolCallPart[], cut: boolean): Promise<void> {
  const { execution } = loop;
  const arrived = parts.map((part, index) => arrivedCall(part, turn, index));
  const key = `${turn}/calls/${parts[0]?.id ?? ""}`;
  // All that the log says of a call stands behind this record.
  const isResumed = execution.has(key);
  execution.put(key, "tool-calls-start", { calls: parts.map(summaryOf) });
  // After a crash some of the calls may have been judged already.
  if (!isResumed && execution.hasUnread) await readInboxBeforeGates(loop);
  const open = isResumed ? arrived.filter((call) => !execution.has(`${call.key}/result`)) : arrived;
  const gated: (OpenCall | SettledCall)[] = [];
  for (const call of open) {
    const unfit = whyUnfit(loop, call, cut && call.index === parts.length - 1);
    gated.push(unfit === undefined ? await passGates(loop, call) : refuse(call, unfit));
  }
  const current = mayBeOutdated(loop, gated) ? await settleOutdatedCalls(loop, gated) : gated;
  const calls = await settleQuestions(
    loop,
    current.map((call) => warnIfStarted(loop, call)),
  );
  registerWaits(loop, calls);
  if (hooksOf(loop)?.afterTools && open.length < arrived.length)
    await afterTools(
      loop,
      arrived.filter((call) => !open.includes(call)),
    );
  const skipped: EndedCall[] = [];
  const batches = batchesOf(loop, calls);
  for (const [index, batch] of batches.entries()) {
    loop.debug?.(`batch ${index + 1} of ${batches.length}: ${batch.map(({ part }) => `${part.name} ${part.id}`).join(", ")}`);
    if (execution.hasUnread) await loop.readInbox();
    const ended = await runBatch(loop, batch, isResumed);
    skipped.push(...ended.filter((call) => call.state === "settled" && call.why === "skipped"));
    if (execution.hasUnread) await loop.readInbox();
  }
  if (skipped.length > 0 && loop.context.watches("steering-skip")) await notifyRulesOfSkipped(loop, turn, skipped);
  const meter = meterOf(loop);
  if (meter?.own.toolCalls !== undefined) markToolCalls(loop, meter);
  execution.put(`${turn}/calls-done/${parts[0]?.id ?? ""}`, "tool-calls-complete", {});
  if (hooksOf(loop)?.afterTools) addHookRemarks(loop, turn, arrived);
}

function summaryOf({ id, name, inputText, input }: ToolCallPart): CallSummary {
  return { callId: id, name, inputText, ...(input !== undefined && { input }) };
}

/** Why a call does not get as far as the gates. */
function whyUnfit(loop: Loop, { part }: ArrivedCall, isCut: boolean): string | undefined {
  if (isCut)
    return "The response was cut off at its token limit while this call was being written, so it did not run. Call again with shorter arguments, or in smaller steps.";
  const { form } = outputOf(loop);
  return form?.tool !== undefined && isOutputCall(form, part) ? OUTPUT_TOO_EARLY : undefined;
}

/** What a gate refuses may have run before the process ended: the model is told so, unless somebody said what became of it. */
function warnIfStarted(loop: Loop, call: OpenCall | SettledCall): OpenCall | SettledCall {
  if (call.state !== "settled" || call.why === "ran" || call.why === "given-up" || !mayHaveRun(loop, call)) return call;
  return refuse(
    call,
    `This call was started before the process ended, and it can't be gone on with: ${String(call.result.output)} It may have taken effect: look before you repeat it.`,
  );
}

/** Rules may note which calls a steering message pushed aside. */
async function notifyRulesOfSkipped(loop: Loop, turn: string, skipped: readonly EndedCall[]): Promise<void> {
  const names = skipped.map((call) => ({ callId: call.part.id, name: toolNameOf(call) }));
  await loop.context.run({
    type: "steering-skip",
    key: `${turn}/steering-skip`,
    input: { calls: names },
    inputIsFixed: true,
    execute: () => {},
  });
}

function batchesOf(loop: Loop, calls: readonly (ReadyCall | SettledCall)[]): readonly (readonly (ReadyCall | SettledCall)[])[] {
  const planned = calls.map((call) => ({ call, tool: { concurrency: concurrencyOf(loop, call) } }));
  const batches = planBatches(planned, { maxParallelCalls: loop.limits.maxParallelCalls });
  return batches.map((batch) => batch.map(({ call }) => call));
}

function concurrencyOf(loop: Loop, call: ReadyCall | SettledCall): ToolConcurrency {
  if (call.state === "settled") return "shared";
  return mayMove(loop, call) ? "exclusive" : call.tool.concurrency;
}
