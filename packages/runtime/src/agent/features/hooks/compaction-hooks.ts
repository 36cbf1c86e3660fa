import type { Loop } from "../../turn/loop.ts";
import { askHooks, notifyHooks } from "./ask-hooks.ts";
import { haltedBy } from "./halted-by-hook.ts";
import { hooksAt } from "./loop-hooks.ts";

/** Whether hooks let the conversation be compacted. `tokenCount` is an upper bound. */
export async function mayCompact(loop: Loop, key: string): Promise<boolean> {
  const hooks = hooksAt(loop, "pre-compact", undefined);
  if (hooks === undefined) return true;
  const verdict = await askHooks(loop, { point: "pre-compact", key: `${key}/hooks/pre-compact`, hooks, payload: countsOf(loop) });
  if (verdict?.type !== "abort") return true;
  if (verdict.ends === "run") throw haltedBy(verdict);
  loop.execution.emit({
    type: "status",
    status: `the conversation was not compacted. Refused by the hook "${verdict.by}": ${verdict.reason}`,
    level: "warn",
  });
  return false;
}

export async function afterCompaction(loop: Loop, key: string): Promise<void> {
  const hooks = hooksAt(loop, "post-compact", undefined);
  if (hooks === undefined) return;
  await notifyHooks(loop, { point: "post-compact", key: `${key}/hooks/post-compact`, hooks, payload: countsOf(loop) });
}

function countsOf({ context: { conversation } }: Loop): { readonly messageCount: number; readonly tokenCount: number } {
  return { messageCount: conversation.length, tokenCount: conversation.tokenBound };
}
