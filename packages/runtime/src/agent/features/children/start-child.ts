import {
  isSuspendReason,
  type CallId,
  type ChildSpec,
  type Content,
  type EndReason,
  type OperatorOutput,
  type RunId,
  type RunReason,
  type Wait,
} from "@keelson/protocol";
import type { Execution } from "../../../session/execution.ts";
import { Suspension } from "../../../session/suspension.ts";
import { operatorOutputOf } from "../../turn/operator-output.ts";
import type { RunOutcome } from "../../definition/run.ts";
import { childIds, planChild, type ChildPlan, type ChildRequest } from "./child-plan.ts";
import { handoffIn, MAX_HANDOFFS, type Handoff } from "../../definition/children/handoff.ts";
import { stillWaits } from "./still-waits.ts";
import { logErrorOf, workChild, type ChildOutcome } from "./work-child.ts";
import type { ParentRun, RunStarter } from "../../turn/live-run.ts";

/**
 * Runs an agent as a child: its own session, log and lease, the parent's authority narrowed. Started twice under one key it
 * is the same child: over, its outcome is read; interrupted, it goes on. A child that waits makes its parent wait. One that hands
 * its task to another agent is followed: the last of them gives the output.
 */
export async function startChildRun(runner: RunStarter, spec: ChildSpec, parent: ParentRun, execution: Execution): Promise<OperatorOutput> {
  let handoff: Handoff | undefined;
  for (let hop = 0; ; hop++) {
    const place = hop === 0 ? spec.key : `${spec.key}/handoff/${hop}`;
    const passedOn = execution.lookup(`${place}/handed-off`, "handed-off")?.data;
    if (passedOn) {
      handoff = passedOn;
      continue;
    }
    const plan = planChild(runner, requestAt(place, spec, handoff, execution), execution);
    putStart(execution, place, plan, spec.call);
    await execution.flush();
    const still = await stillWaits({ runner, parent, execution, plan });
    if (still) throw new Suspension(still.reason, waitsBelow(plan.agent.name, still.waits));
    const { outcome, counts, untrusted } = await outcomeOfChild(plan, parent, execution);
    handoff = handoffIn(outcome);
    const isLast = handoff === undefined || hop === MAX_HANDOFFS;
    if (handoff && !isLast) execution.put(`${place}/handed-off`, "handed-off", handoff);
    putEnd(execution, place, plan.id, outcome, { counts, untrusted });
    if (isLast) return handoff ? endless(outcome) : outputOf(outcome);
  }
}

/** Works it until it is over. Where it waits, so does its parent; where this process lost it, its parent is lost too. */
async function outcomeOfChild(plan: ChildPlan, parent: ParentRun, execution: Execution): Promise<ChildOutcome> {
  const { agent } = plan;
  const worked = await workChild({ plan, parent, execution, name: agent.name });
  const { outcome, lost } = worked;
  if (lost) {
    const error = logErrorOf(lost);
    execution.journal.abandon(error);
    throw error;
  }
  if (isSuspendReason(outcome.reason)) throw new Suspension(outcome.reason, waitsBelow(agent.name, outcome.waits));
  return worked;
}

/** What a child waits for, as its parent says it. */
export function waitsBelow(name: string, waits: readonly Wait[] = []): readonly Wait[] {
  return waits.map((wait): Wait => ({ ...wait, path: [name, ...(wait.path ?? [])] }));
}

function putStart(execution: Execution, place: string, { id, session, agent }: ChildPlan, callId?: CallId): void {
  const key = `${place}/child-start`;
  execution.put(key, "child-start", { child: id, session, agent: agent.name, ...(callId && { callId }) });
}

export function putEnd(
  execution: Execution,
  place: string,
  id: string,
  {
    reason,
    usage,
    cost,
    estimated,
    error,
  }: Pick<RunOutcome<unknown>, "usage" | "cost" | "estimated" | "error"> & { readonly reason: RunReason },
  { counts, untrusted }: Pick<ChildOutcome, "counts" | "untrusted">,
): void {
  execution.put(`${place}/child-end`, "child-end", {
    child: id as RunId,
    reason: reason as EndReason,
    usage,
    cost,
    ...(estimated && { estimated }),
    ...(error && { failure: error.failure }),
    ...(counts && { counts }),
    ...(untrusted.length > 0 && { untrusted }),
  });
}

function requestAt(place: string, spec: ChildSpec, handoff: Handoff | undefined, execution: Execution): ChildRequest {
  const operator = handoff?.operator ?? spec.operator;
  const input = handoff ? { ...spec.input, message: [{ type: "text", text: handoff.task } as const] } : spec.input;
  const { authority } = spec;
  return { ...childIds(execution, place, operator, handoff?.session), operator, input, ...(authority && { authority }) };
}

/** A child that failed says why, and what it had: it never looks like an empty success. */
function outputOf(outcome: RunOutcome<unknown>): OperatorOutput {
  const { error, text, ...rest } = outcome;
  if (error === undefined) return operatorOutputOf(outcome);
  const message: Content[] = [{ type: "text", text: error.message }];
  if (text !== "") message.push({ type: "text", text: `What it had so far:\n${text}` });
  // Told to the parent as what it is, and not thrown.
  const told = { ...rest, text } as RunOutcome<unknown>;
  return { ...operatorOutputOf(told), message, exitReason: { type: "error" } };
}

function endless(outcome: RunOutcome<unknown>): OperatorOutput {
  const text = `The task was handed on ${MAX_HANDOFFS + 1} times, and nobody answered it.\n${outcome.text}`;
  return { ...operatorOutputOf({ ...outcome, text, effects: [] }), exitReason: { type: "error" } };
}
