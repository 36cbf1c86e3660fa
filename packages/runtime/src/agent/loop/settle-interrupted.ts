import type { Reconciliation } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import { openWaits } from "../features/questions/ask-people.ts";
import { publishQuestion } from "../features/questions/publish-question.ts";
import type { Loop } from "../turn/loop.ts";
import { startCall, type EndedCall, type ExecutedCall, type WaitingCall } from "../turn/pending-call.ts";
import { leafCall } from "./leaf-call.ts";
import { unknownQuestion } from "./resolve-unknown.ts";
import { countReservations, mayHaveRun, noteNotDone, noteUnknown } from "./tool-call-ledger.ts";

/** Time for a tool to say what became of a call that was cut off. */
const RECONCILE_LIMIT_MS = 1000;

/**
 * Settles the calls that an interrupt cut off. A write whose tool does not know either is left open, and the run waits for a person who
 * knows: it is neither repeated nor counted as done.
 */
export async function settleInterrupted(loop: Loop, calls: readonly EndedCall[]): Promise<readonly EndedCall[]> {
  if (!loop.execution.interrupting.aborted) return calls;
  const settled = await Promise.all(calls.map(async (call) => (wasCutOff(call) ? settle(loop, call) : call)));
  // The interrupt goes into the log before the run waits: else it would be read, and end the next process, when the run is resumed.
  if (settled.some(({ state }) => state === "waiting")) await loop.readInbox();
  return settled;
}

/** True if its tool did not return after its signal fired. */
function wasCutOff(call: EndedCall): call is ExecutedCall {
  return call.state === "executed" && call.result.failure?.kind === "cancelled";
}

async function settle(loop: Loop, call: ExecutedCall): Promise<ExecutedCall | WaitingCall> {
  if (call.effect !== "write" || !mayHaveRun(loop, call))
    return interrupted(call, "Interrupted: the run was stopped before this call was done.");
  const found = await reconcileWithin(loop, call);
  if (found === "not-done") {
    noteNotDone(loop, call);
    return interrupted(call, "Interrupted: the run was stopped before this call changed anything.");
  }
  if (typeof found === "object") {
    const { failure: _failure, ...result } = call.result;
    return { ...call, result: { ...result, output: found.output, isError: false } };
  }
  noteUnknown(loop, call, { interrupted: true });
  const asked = publishQuestion(loop, unknownQuestion(loop, call, ""));
  const { state: _state, result: _result, declared: _declared, marks: _marks, keeps: _keeps, ...fitting } = call;
  return { ...fitting, state: "waiting", suspension: new Suspension("awaiting-decision", openWaits(loop, [asked])) };
}

function interrupted(call: ExecutedCall, output: string): ExecutedCall {
  return { ...call, result: { ...call.result, output, isError: true } };
}

/** Asks the tool, for a short time. Its answer is not recorded: what the log gets is the result of the call, or that it is unknown. */
async function reconcileWithin(loop: Loop, call: ExecutedCall): Promise<Reconciliation> {
  const { execution } = loop;
  const { tool } = call;
  if (tool.reconcile === undefined) return "unknown";
  const { promise: late, resolve } = Promise.withResolvers<"unknown">();
  const over = new AbortController();
  const cancel = execution.clock.after(RECONCILE_LIMIT_MS, () => resolve("unknown"));
  try {
    const started = startCall({ ...call, state: "ready" }, countReservations(loop, call));
    const asked = (async () => tool.reconcile?.(call.value, leafCall(loop, started, AbortSignal.any([execution.signal, over.signal]))))();
    return (await Promise.race([asked.catch(() => "unknown" as const), late])) ?? "unknown";
  } finally {
    cancel();
    over.abort("answered");
  }
}
