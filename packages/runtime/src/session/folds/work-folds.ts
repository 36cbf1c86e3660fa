import type { EndReason } from "@keelson/protocol";
import { addChild, addTask, endChild, markSettled, markStopping } from "../child-state.ts";
import { addDeclared, markAttempt, markDone } from "../outbox.ts";
import { budgetMark } from "../budget-mark.ts";
import type { RunState } from "../session-state.ts";
import { unitedSources } from "../untrusted-sources.ts";
import { addTo, type Folds, running } from "./fold.ts";

export type WorkRecordType =
  | "child-start"
  | "child-end"
  | "child-stop"
  | "child-settled"
  | "task"
  | "budget"
  | "budget-ledger"
  | "limit-raised"
  | "directive"
  | "effect"
  | "effect-attempt"
  | "effect-done";

/** Folds of what a run started or declared: children, tasks, effects, budgets. */
export const WORK_FOLDS: Folds<WorkRecordType> = {
  "child-start": (state, _record, data) => {
    const run = running(state);
    run.children = addChild(run.children, data);
  },
  "child-end": (state, _record, data) => {
    const run = running(state);
    if (data.counts) run.below = addCounts(run.below, data.counts);
    state.untrusted = unitedSources(state.untrusted, data.untrusted);
    endChild(run.children, data.child, data.reason);
    addTo(state.totals, data.usage, data.cost, data.estimated);
    addTo(run.totals, data.usage, data.cost, data.estimated);
  },
  "child-stop": (state, _record, data) => {
    markStopping(running(state).children, data.child);
  },
  "child-settled": (state, _record, data) => {
    markSettled(running(state).children, data.child, data.ending);
  },
  "task": (state, _record, data) => {
    const run = running(state);
    if (data.kind === "started") run.children = addTask(run.children, data.taskId, data.payload);
    else if (data.kind === "completed") endChild(run.children, data.taskId, "complete");
    else if (data.kind === "failed") endChild(run.children, data.taskId, (data.payload as { readonly reason: EndReason }).reason);
  },
  "budget": (state, _record, data) => {
    const { threshold } = data;
    if (threshold !== undefined) (running(state).budgetMarks ??= new Set()).add(budgetMark({ ...data, threshold }));
  },
  "budget-ledger": (state, _record, data) => {
    running(state).ledger = data.ledger;
  },
  "limit-raised": (state, _record, data) => {
    const run = running(state);
    run.raisedLimits = { ...run.raisedLimits, ...data };
    // The thresholds of the new limit are reported again.
    const isRaised = (mark: string): boolean =>
      (data.maxCost !== undefined && mark.startsWith("cost/")) || (data.maxTokens !== undefined && mark.startsWith("tokens/"));
    if (run.budgetMarks) run.budgetMarks = new Set([...run.budgetMarks].filter((mark) => !isRaised(mark) || !mark.endsWith("/")));
  },
  "directive": (state, record) => {
    const run = running(state);
    run.outbox = addDeclared(run.outbox, record);
  },
  "effect": (state, record, { effect }) => {
    const run = running(state);
    run.outbox = addDeclared(run.outbox, record);
    if (effect.type === "handoff") run.handedOff = true;
  },
  "effect-attempt": (state, _record, data) => {
    markAttempt(running(state).outbox, data.id);
  },
  "effect-done": (state, _record, data) => {
    const run = running(state);
    markDone(run.outbox, data.id, data.failure === undefined ? "done" : "failed");
    run.stalls = 0;
  },
};

type Counts = NonNullable<RunState["below"]>;

function addCounts(sum: Counts | undefined, { turns, toolCalls, modelCalls }: Counts): Counts {
  if (sum === undefined) return { turns, toolCalls, modelCalls };
  return { turns: sum.turns + turns, toolCalls: sum.toolCalls + toolCalls, modelCalls: sum.modelCalls + modelCalls };
}
