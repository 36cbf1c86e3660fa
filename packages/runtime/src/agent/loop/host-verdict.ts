import type { HostVerdict } from "@keelson/protocol";
import { grantsFor } from "../definition/permissions/granted-rules.ts";
import { judgeHost, judgeReveal } from "../features/permissions/judge-host.ts";
import { policiesOf } from "../features/permissions/run-policies.ts";
import { sessionOf, type Loop } from "../turn/loop.ts";
import type { RunningCall } from "../turn/pending-call.ts";

/** Returns the verdict of rules and answers on a connection of a call that runs, at this moment: a job may run for long. */
export function hostVerdict(loop: Loop, call: RunningCall, host: string, port: number): HostVerdict {
  const { name } = call.tool;
  return judgeHost({ host, port }, { policies: policiesOf(loop), tool: name, grants: grantsFor(sessionOf(loop).grants, name) });
}

/** True if rules or answers show a hidden file to a call that runs, at this moment. */
export function mayReveal(loop: Loop, call: RunningCall, file: string): boolean {
  const { name } = call.tool;
  return judgeReveal(file, { policies: policiesOf(loop), tool: name, grants: grantsFor(sessionOf(loop).grants, name) });
}
