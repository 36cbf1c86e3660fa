import type { ExecutionContext, JsonValue, SelectBranch, StepAttempt, StepSpec } from "@keelson/protocol";
import type { BranchData, ContextRequest, StepData } from "./operator-messages.ts";

/** Runs a function of the operator, over there. Without an attempt it is a decision. */
export type RunTask = (task: number, attempt?: StepAttempt) => Promise<unknown>;

/** Does with the execution context of a run what an operator in another process asks of it. */
export async function answerRequest(ask: ContextRequest, context: ExecutionContext, runTask: RunTask): Promise<unknown> {
  // What a step comes to was JSON on its way here.
  const specOf = ({ key, task }: StepData): StepSpec<unknown> => ({ key, run: async (attempt) => runTask(task, attempt) });
  const branchOf = (branch: BranchData): SelectBranch => (branch.type === "step" ? { type: "step", spec: specOf(branch.spec) } : branch);
  switch (ask.method) {
    case "step": {
      const { key, task } = ask.spec;
      return context.step(key, async (attempt) => (await runTask(task, attempt)) as JsonValue);
    }
    case "steps":
      return context.steps(ask.specs.map(specOf));
    case "select":
      return context.select(ask.key, ask.branches.map(branchOf));
    case "decide":
      return context.decide(ask.point, () => runTask(ask.task));
    case "sleepUntil":
      return context.sleepUntil(ask.key, ask.at);
    case "commit":
      return context.commit(ask.key, ask.event);
    case "inbox":
      return context.inbox(ask.point);
    case "startChild":
      return context.startChild(ask.spec);
  }
}
