import type { Loop } from "../turn/loop.ts";
import { grantsFor } from "../definition/permissions/granted-rules.ts";
import { mayReadUnasked } from "../features/permissions/may-read-unasked.ts";
import { sessionOf } from "../turn/loop.ts";
import type { RunningCall } from "../turn/pending-call.ts";
import { policiesOf } from "../features/permissions/run-policies.ts";

/** Whether a call that runs may look into a file that it comes across. What it was asked to read, it was let through for. */
export function mayRead(loop: Loop, call: RunningCall, path: string): boolean {
  const { name } = call.tool;
  const { cwd } = loop.agent.options;
  return mayReadUnasked({
    policies: policiesOf(loop),
    tool: name,
    path,
    named: call.reads,
    cwd,
    grants: grantsFor(sessionOf(loop).grants, name),
  });
}
