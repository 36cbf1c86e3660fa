import type { JsonObject } from "@keelson/protocol";
import type { ChildStart, ChildState } from "../../../session/child-state.ts";
import type { Execution } from "../../../session/execution.ts";
import { childIds } from "./child-plan.ts";

/** Puts the start of an agent beside the turns; it is at work once something takes it up. */
export function recordStart(execution: Execution, start: ChildStart): void {
  execution.put(`background/${start.child}/start`, "child-start", { ...start });
}

/** The same agent goes on in the same session, so that what it had is not lost and not done again. */
export function recordRetry(execution: Execution, { id, name, agent, session, background }: ChildState, key: string): void {
  const operator = agent as string;
  const again = childIds(execution, `${key}/retry`, operator, session);
  const config = { ...(background as JsonObject), agent: operator, retryOf: id };
  recordStart(execution, { child: again.id, session: again.session, agent: operator, background: { name, config } });
}
