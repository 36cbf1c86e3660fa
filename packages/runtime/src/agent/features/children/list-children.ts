import { UNKNOWN_USAGE, ZERO_USD } from "@keelson/protocol";
import type { ChildState } from "../../../session/child-state.ts";
import { foldSession } from "../../../session/fold-session.ts";
import { lastTextOf, type SessionState } from "../../../session/session-state.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import type { ChildView } from "../../definition/child-view.ts";

/** The children of a session's newest run, with theirs below them, in the order in which they were started. Read from their logs. */
export async function listChildren(
  services: Pick<RunnerServices, "log" | "blobs">,
  state: SessionState | undefined,
): Promise<readonly ChildView[]> {
  const children = [...(state?.run?.children?.all.values() ?? [])];
  return Promise.all(children.map((child) => viewOf(services, child)));
}

async function viewOf(services: Pick<RunnerServices, "log" | "blobs">, child: ChildState): Promise<ChildView> {
  const { id, kind, name, agent, session, callId, background, status } = child;
  const folded = session === undefined ? undefined : await foldSession(services.log, services.blobs, session);
  // A session may have gone on with another run since.
  const run = folded?.run?.id === id ? folded.run : undefined;
  const { usage, cost, costKnown, turns } = run?.totals ?? { usage: UNKNOWN_USAGE, cost: ZERO_USD, costKnown: true, turns: 0 };
  return {
    id,
    kind,
    name,
    ...(agent !== undefined && { agent }),
    ...(session !== undefined && { session }),
    ...(callId && { callId }),
    background: background !== undefined,
    status: status === "working" && run?.status === "suspended" ? "suspended" : status,
    text: lastTextOf(run),
    turns,
    usage,
    cost: costKnown ? cost : null,
    waits: run?.waits ?? [],
    children: run === undefined ? [] : await listChildren(services, folded),
  };
}
