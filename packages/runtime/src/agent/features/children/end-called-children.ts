import { isSuspendReason, UNKNOWN_USAGE, ZERO_USD, type EndReason, type SessionId } from "@keelson/protocol";
import type { ChildState } from "../../../session/child-state.ts";
import { foldSession } from "../../../session/fold-session.ts";
import { afterChild } from "../hooks/subagent-hooks.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { putEnd } from "./start-child.ts";
import { logErrorOf, workChild, type ChildOutcome } from "./work-child.ts";
import type { ParentRun, RunStarter } from "../../turn/live-run.ts";

export interface CalledChildrenParts {
  readonly runner: RunStarter;
  readonly parent: ParentRun;
}

/**
 * Ends the children that calls wait for, where the run ends before it goes on with those calls: told to stop, waited for,
 * recorded. None of them is left open behind a run that is over.
 */
export async function endCalledChildren(loop: Loop, parts: CalledChildrenParts): Promise<void> {
  for (const child of [...(runOf(loop).children?.all.values() ?? [])])
    if (child.status === "working" && child.background === undefined) await endCalled(loop, parts, child);
}

async function endCalled(loop: Loop, { runner, parent }: CalledChildrenParts, child: ChildState): Promise<void> {
  const { execution } = loop;
  const { id, callId, name } = child;
  const session = child.session as SessionId;
  const place = placeOf(loop, id);
  const agent = runner.find(child.agent as string);
  const { run } = await foldSession(runner.services.log, runner.services.blobs, session);
  let ended: Pick<ChildOutcome, "outcome" | "counts" | "untrusted"> = { outcome: NEVER_BEGUN, counts: undefined, untrusted: [] };
  if (agent !== undefined && run?.id === id) {
    const plan = { agent, id: run.id, session, begin: () => runner.resume(session) };
    const worked = await workChild({ plan, parent, execution, name, begun: (active) => void active.stop().catch(() => {}) });
    if (worked.lost) {
      const error = logErrorOf(worked.lost);
      execution.journal.abandon(error);
      throw error;
    }
    ended = worked;
  }
  const { outcome } = ended;
  const reason = (isSuspendReason(outcome.reason) ? "stopped" : outcome.reason) as EndReason;
  await afterChild(loop, { key: place, operator: child.agent as string, input: NO_INPUT, ...(callId && { call: callId }) }, reason);
  putEnd(execution, place, id, { ...outcome, reason }, ended);
}

/** Where in the run the child was started. */
function placeOf(loop: Loop, id: string): string {
  const { open, id: runId } = runOf(loop);
  for (const { type, key, data } of open.values())
    if (type === "child-start" && data["child"] === id) return key.slice(runId.length + 1, -"/child-start".length);
  return `children/${id}`;
}

const NO_INPUT = { message: [], trigger: "task", metadata: {} } as const;
const NEVER_BEGUN = { reason: "stopped", text: "", turns: 0, usage: UNKNOWN_USAGE, cost: ZERO_USD, effects: [] } as const;
