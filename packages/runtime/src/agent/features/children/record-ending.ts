import { UNKNOWN_USAGE, type RunId } from "@keelson/protocol";
import type { ChildEnding } from "../../../session/child-state.ts";
import { declareEffects } from "../effects/declare-effects.ts";
import type { Loop } from "../../turn/loop.ts";
import { hasEndedWell } from "./background-report.ts";
import type { Work } from "./work.ts";

/** Puts the end of work beside the turns; what an agent declared and did not see executed is from here on its parent's. */
export function recordEnding(loop: Loop, { state, effects }: Work, ending: ChildEnding): void {
  const { execution } = loop;
  const { id, kind } = state;
  const { reason, value, failure, usage = UNKNOWN_USAGE, cost = null, estimated, counts, untrusted } = ending;
  const key = `background/${id}/end`;
  if (kind === "agent") {
    const left = effects.filter(({ type, meta }) => meta?.outcome === undefined && type !== "handoff");
    if (left.length > 0 && hasEndedWell(ending)) declareEffects(loop, `background/${id}`, left, id);
    const child = id as RunId;
    execution.put(key, "child-end", {
      child,
      reason,
      usage,
      cost,
      ...(estimated && { estimated }),
      ...(failure && { failure }),
      ...(counts && { counts }),
      ...(untrusted && { untrusted }),
    });
  } else if (reason === "complete") execution.put(key, "task", { taskId: id, kind: "completed", payload: { output: value ?? null } });
  else {
    const message = (failure as { readonly message?: string } | undefined)?.message ?? `the task was ${reason}`;
    execution.put(key, "task", { taskId: id, kind: "failed", payload: { reason, message } });
  }
}
