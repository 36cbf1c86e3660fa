import type { RunId, SessionId, Wait } from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";

/**
 * Tells the children that work elsewhere to end, where the run itself is about to.
 * @returns what it has to wait for first: those of them that are not over
 */
export async function stopChildrenElsewhere(
  loop: Loop,
  { orchestrator, log, blobs }: RunnerServices,
  how: "stop" | "abort",
): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  if (orchestrator?.wake === undefined) return waits;
  for (const { kind, id, name, session, status } of runOf(loop).children?.all.values() ?? []) {
    if (kind !== "agent" || status !== "working") continue;
    const { run } = await foldSession(log, blobs, session as SessionId);
    if (run?.id !== id || run.status === "ended") continue;
    await orchestrator.cancel(run.id, how);
    waits.push({ type: "child", run: id as RunId, session: session as SessionId, path: [name] });
  }
  return waits;
}
