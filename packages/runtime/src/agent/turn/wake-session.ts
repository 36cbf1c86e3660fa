import type { SessionId } from "@keelson/protocol";
import type { RunnerServices } from "./runner-services.ts";

/** Has the run of a session looked at, where runs are worked elsewhere: somebody wrote to its inbox, or a child of it is over. */
export async function wakeSession({ orchestrator }: Pick<RunnerServices, "orchestrator">, session: SessionId): Promise<void> {
  await orchestrator?.wake?.(session);
}
