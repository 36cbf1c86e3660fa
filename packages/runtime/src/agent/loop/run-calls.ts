import { compareUsd, type ChildSpec, type JsonValue, type Tool, type ToolCall, type ToolCallPart, type ToolOutput } from "@keelson/protocol";
import { canonicalJson, digestOf, shortHash } from "../../json/index.ts";
import { Suspension } from "../../session/suspension.ts";
import { executeLeaf, type LeafResult } from "../../tools/execute-leaf.ts";
import { isDispatchTool } from "../../tools/dispatch-tool.ts";
import { planBatches } from "../../tools/plan-batches.ts";
import { askPeople, endIfAborted, type Question } from "../gates/ask-approval.ts";
import { guardKey, passEditedArguments, passGates } from "../gates/pass-gates.ts";
import { refuse, type PendingCall } from "../gates/pending-call.ts";
import { runOf, sessionOf, type Loop } from "./loop.ts";
import { readInbox } from "./read-inbox.ts";

const MAX_EDITS = 3;

/** Works the calls of one response: all through the gates, one after another; then in batches. Every call gets its answer into the log. */
export async function runCalls(loop: Loop, turn: string, parts: readonly ToolCallPart[], cut: boolean): Promise<void> {
  const { execution } = loop;
  const calls = parts.map((part, index): PendingCall => ({ part, index, key: `${turn}/call/${part.id}`, edits: 0 }));
  execution.put(`${turn}/calls/${parts[0]?.id ?? ""}`, { type: "tool-calls-start", calls: parts.map(({ id, name, input, inputText }) => ({ callId: id, name, inputText, ...(input !== undefined && { input }) })) });
  const open = calls.filter((call) => execution.lookup(`${call.key}/result`) === undefined);
  const last = calls.at(-1);
  if (cut && last) refuse(last, "The answer was cut off at its token limit while this call was being written, so it did not run. Call again with shorter arguments, or in smaller steps.");
  for (const call of open) if (call.answer === undefined) await passGates(loop, call);
  await settleQuestions(loop, open);
  await runBatches(loop, turn, open);
  execution.put(`${turn}/calls-done/${parts[0]?.id ?? ""}`, { type: "tool-calls-complete" });
}

/** Asks about the calls that a gate wants asked about, until each is answered or may run. */
async function settleQuestions(loop: Loop, calls: readonly PendingCall[]): Promise<void> {
  for (let round = 1; ; round++) {
    const asking = calls.filter((call) => call.answer === undefined && call.ask !== undefined);
    if (asking.length === 0) return;
    const decisions = await askPeople(
      loop,
      asking.map((call): Question => ({ type: "approval", callId: call.part.id, key: call.key, round, tool: call.tool as NonNullable<PendingCall["tool"]>, input: call.input ?? null, reason: call.ask ?? "" })),
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
          refuse(call, `A person declined this call${decision.reason ? `: ${decision.reason}` : ""}. Do not try it again in another form; go on without it or ask what to do.`);
          break;
        default:
          refuse(call, `The question was answered with "${decision.type}", which does not answer it; the call did not run.`);
      }
    }
  }
}

async function runBatches(loop: Loop, turn: string, calls: readonly PendingCall[]): Promise<void> {
  const batches = planBatches(calls as readonly (PendingCall & { readonly tool: NonNullable<PendingCall["tool"]> })[], {
    maxParallelCalls: loop.limits.maxParallelCalls,
    decideConcurrency: (call) => (call.answer === undefined ? call.tool.concurrency : "shared"),
  });
  for (const [index, batch] of batches.entries()) {
    await readInbox(loop, `${turn}/batch/${index}`);
    await runBatch(loop, batch);
    await readInbox(loop, `${turn}/batch/${index}/after`);
  }
}

/** Reserves in one append, executes together, commits in one append in call order. */
async function runBatch(loop: Loop, batch: readonly PendingCall[]): Promise<void> {
  const { execution } = loop;
  for (const call of batch) if (call.answer === undefined) withhold(loop, call);
  const attempts = new Map<PendingCall, number>();
  for (const call of batch) if (call.answer === undefined) attempts.set(call, await reserveCall(loop, call));
  const running = batch.filter((call) => call.answer === undefined);
  let results: readonly Executed[] = [];
  if (running.length > 0) {
    await execution.flush();
    const settled = await execution.attempts(running.map((call) => ({ key: call.key, number: attempts.get(call) ?? 1, run: ({ signal }) => execute(loop, call, attempts.get(call) ?? 1, signal) })));
    results = settled.map((result) => (result.ok ? { ...result.value, durationMs: result.endedAt - result.startedAt } : { output: result.failure.message, isError: true, durationMs: result.endedAt - result.startedAt }));
  }
  let suspension: Suspension | undefined;
  for (const call of batch) {
    const result = results[running.indexOf(call)];
    if (result?.suspended) suspension ??= result.suspended;
    else await commitResult(loop, call, result);
  }
  if (suspension) throw suspension;
}

type Executed = LeafResult & { readonly durationMs: number; readonly suspended?: Suspension };

/** Answers calls that may no longer start: the run was told to stop, was steered away, or spent its money. */
function withhold(loop: Loop, call: PendingCall): void {
  const run = runOf(loop);
  const { maxCost } = loop.limits;
  if (loop.execution.signal.aborted || run.stopping !== undefined) refuse(call, "Not run: the run was stopped before this call started.");
  else if (run.interrupted) refuse(call, "Not run: the user sent a new message first. Read it, then decide again.");
  else if (maxCost !== undefined && call.tool?.effect !== "read" && compareUsd(run.totals.cost, maxCost) > 0) refuse(call, `budget-exhausted: $${run.totals.cost} is spent, the limit is $${maxCost}. Nothing that changes anything is started any more.`);
}

/**
 * Puts the reservation of a call that changes the world into the log before it runs. One that stands there from before a
 * crash makes the call unknown: idempotent tools run again under the same key; writes are reconciled, or people decide.
 * @returns the number of this attempt
 */
async function reserveCall(loop: Loop, call: PendingCall): Promise<number> {
  const { execution } = loop;
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  if (tool.effect === "read") return 1;
  let number = 1;
  while (execution.lookup(`${call.key}/reserved/${number}`)) number++;
  if (number > 1 && tool.effect === "write" && execution.lookup(`${call.key}/not-done/${number - 1}`) === undefined) {
    await resolveUnknown(loop, call, number - 1);
    if (call.answer !== undefined) return number;
  }
  execution.note(`${call.key}/reserved/${number}`, "tool-reserved", { callId: call.part.id, tool: tool.name, version: tool.version, idempotencyKey: idempotencyKey(loop, call) }, tool.effect === "write" ? "power" : undefined);
  return number;
}

/** Nobody knows whether this write happened. Its tool is asked; else the people. */
async function resolveUnknown(loop: Loop, call: PendingCall, number: number): Promise<void> {
  const { execution } = loop;
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  const key = `${call.key}/unknown/${number}`;
  execution.put(key, { type: "tool-unknown", callId: call.part.id, name: tool.name });
  if (tool.reconcile) {
    const found = await execution.decide(`${key}/reconcile`, async () => (await tool.reconcile?.(call.value, toolCall(loop, call, number, execution.signal))) ?? "unknown");
    if (found === "not-done") return notDone(loop, call, number);
    if (typeof found === "object") {
      call.answer = { output: found.output, isError: false };
      call.ran = true;
      return;
    }
  }
  const [decision] = await askPeople(loop, [
    {
      type: "decision",
      callId: call.part.id,
      key: call.key,
      round: number,
      tool,
      input: call.input ?? null,
      reason: `${tool.name} was started, then the process ended before its result was recorded. Find out whether it took effect: retry runs it again, supply gives its output, fail tells the model that it failed.`,
    },
  ]);
  if (!decision) return;
  endIfAborted(decision);
  if (decision.type === "retry") return notDone(loop, call, number);
  if (decision.type === "supply") {
    call.answer = { output: decision.output, isError: false };
    call.ran = true;
  } else refuse(call, `This call was interrupted and counts as failed${"reason" in decision && decision.reason ? `: ${decision.reason}` : ""}. It may have taken effect: look before you repeat it.`);
}

function notDone(loop: Loop, call: PendingCall, number: number): void {
  loop.execution.note(`${call.key}/not-done/${number}`, "tool-not-done", { callId: call.part.id });
}

async function execute(loop: Loop, call: PendingCall, number: number, signal: AbortSignal): Promise<LeafResult & { readonly suspended?: Suspension }> {
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  const { execution } = loop;
  try {
    if (isDispatchTool(tool)) return await dispatch(loop, call, tool.dispatch.operator);
    return await executeLeaf(withTimeout(tool, loop.limits.toolTimeoutMs), call.value, toolCall(loop, call, number, signal), { clock: execution.clock, blobs: loop.blobs });
  } catch (error) {
    if (error instanceof Suspension) return { output: "", isError: true, suspended: error };
    throw error;
  } finally {
    execution.emit({ type: "tool-end", callId: call.part.id });
  }
}

/** The run's limit, for a tool that has none of its own. */
function withTimeout(tool: Tool, timeoutMs: number | undefined): Tool {
  return timeoutMs === undefined || tool.timeoutMs !== undefined ? tool : (Object.create(tool, { timeoutMs: { value: timeoutMs } }) as Tool);
}

/** A child run with its own log. That it failed is told as a failure, with what it had. */
async function dispatch(loop: Loop, call: PendingCall, operator: string): Promise<LeafResult> {
  const input = call.input as { readonly task?: JsonValue } | undefined;
  const message = typeof input?.task === "string" ? input.task : canonicalJson(call.input);
  const spec: ChildSpec = { key: call.key, operator, call: call.part.id, input: { message: [{ type: "text", text: message }], trigger: "task", metadata: {} } };
  const output = await loop.execution.startChild(spec);
  const text = output.message.map((part) => (part.type === "text" ? part.text : "")).join("");
  const { exitReason } = output;
  if (exitReason.type === "complete" || exitReason.type === "handed-off") return { output: text, isError: false };
  return { output: `The agent "${operator}" did not finish (${exitReason.type}${"reason" in exitReason ? `: ${exitReason.reason}` : ""}).${text === "" ? "" : ` What it had: ${text}`}`, isError: true };
}

function toolCall(loop: Loop, call: PendingCall, number: number, signal: AbortSignal): ToolCall {
  const { execution, world } = loop;
  const callId = call.part.id;
  return {
    callId,
    runId: execution.runId,
    session: execution.session,
    agent: loop.agent.name,
    idempotencyKey: idempotencyKey(loop, call),
    attempt: number,
    signal,
    stopping: execution.stopping,
    progress: (message, ratio) => execution.emit({ type: "tool-progress", callId, message, ...(ratio !== undefined && { ratio }) }),
    ...world,
  };
}

function idempotencyKey(loop: Loop, call: PendingCall): string {
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  return `k_${shortHash(`${sessionOf(loop).id}/${call.part.id}/${tool.name}/${tool.version}/${digestOf(call.input ?? null)}`, 32)}`;
}

async function commitResult(loop: Loop, call: PendingCall, result: Executed | undefined): Promise<void> {
  const { execution, context } = loop;
  const name = call.tool?.name ?? call.part.name;
  let outcome: { readonly output: ToolOutput; readonly isError: boolean; readonly blob?: LeafResult["blob"] } = result ?? (call.answer as NonNullable<PendingCall["answer"]>);
  if (context.rules.length > 0 && result !== undefined) {
    const blob = outcome.blob;
    outcome = await context.run<typeof outcome>({
      type: "execute-tool",
      phase: "after",
      key: call.key,
      input: { name, input: call.input ?? null },
      execute: () => outcome,
      show: ({ output, isError }) => ({ output: output as JsonValue, isError }),
      accept: (changed) => ({ output: changed, isError: false, ...(blob && { blob }) }),
    });
  }
  const ran = result !== undefined || call.ran === true;
  execution.put(`${call.key}/result`, {
    type: "tool-result",
    callId: call.part.id,
    name,
    output: outcome.output as JsonValue,
    isError: outcome.isError,
    durationMs: result?.durationMs ?? 0,
    ...(outcome.blob && { blob: outcome.blob }),
    ...(ran && { executed: guardKey(name, call.input), ...(call.tool?.effect !== "read" && { changed: true }) }),
  }, call.tool?.effect === "write" && ran ? "power" : undefined);
}
