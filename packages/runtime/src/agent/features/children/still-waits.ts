import type { Execution } from "../../../session/execution.ts";
import { foldSession } from "../../../session/fold-session.ts";
import { hasNews } from "../../turn/has-news.ts";
import type { ParentRun, RunStarter } from "../../turn/live-run.ts";
import type { ChildPlan } from "./child-plan.ts";
import type { Waiting } from "./work.ts";

export interface LeftChild {
  readonly runner: RunStarter;
  readonly parent: ParentRun;
  readonly execution: Execution;
  readonly plan: Pick<ChildPlan, "id" | "session">;
}

/** What a child waits for that is left as it is, since it has nothing to go on with and nobody wants it ended: nothing is written then. */
export async function stillWaits({ runner: { services }, parent, execution, plan }: LeftChild): Promise<Waiting | undefined> {
  const { signal, stopping, journal } = execution;
  if (!parent.leavesWaiting || signal.aborted || stopping.aborted || journal.state.run?.stopping !== undefined) return undefined;
  const state = await foldSession(services.log, services.blobs, plan.session);
  const { run } = state;
  if (run?.id !== plan.id || run.status !== "suspended" || (await hasNews(services, state))) return undefined;
  return { reason: run.suspendReason ?? "awaiting-decision", waits: run.waits };
}
