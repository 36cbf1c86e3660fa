import type { ApprovalRequest, HookPayloads, TransientEvent } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { showHooks } from "./ask-hooks.ts";
import { warnOfHook } from "./call-hook.ts";
import { hooksAt, hooksOf } from "./loop-hooks.ts";
import type { Step } from "../../turn/moments.ts";

/** Notifications that wait for those before them. More are dropped, with a warning. */
const MAX_QUEUED = 16;

/** Warnings that watchers are shown are notifications, but for those about notification hooks. */
export function notifyOfStatus(loop: Loop, event: TransientEvent): void {
  if (event.type === "status" && event.level === "warn" && hooksOf(loop)?.quiet === false)
    notify(loop, { message: event.status, level: "warn" });
}

/** A question to a person is one, each time that the run begins to wait for the answer. */
export function notifyOfQuestion(loop: Loop, { type, operation, reason, callId }: ApprovalRequest): void {
  const message = type === "approval" ? `${operation} needs an approval: ${reason}` : `${operation} needs a decision: ${reason}`;
  notify(loop, { message, level: "info" }, { operation, callId });
}

/** Nothing waits for it but the end of the work on the run. */
function notify(loop: Loop, payload: HookPayloads["notification"], about?: Pick<ApprovalRequest, "operation" | "callId">): void {
  const state = hooksOf(loop);
  const hooks = hooksAt(loop, "notification", about?.operation);
  if (state === undefined || hooks === undefined) return;
  if (state.queued >= MAX_QUEUED) {
    warnOfHook(loop, "notification", `a notification was dropped, since ${MAX_QUEUED} wait for their hooks: ${payload.message}`);
    return;
  }
  state.queued++;
  state.notifying = state.notifying
    .then(() => showHooks(loop, { point: "notification", hooks, payload, callId: about?.callId }))
    .finally(() => void state.queued--);
}

export const notifiedStep: Step = {
  name: "notification hooks",
  applies: (loop) => hooksOf(loop) !== undefined,
  run: notified,
};

/** Resolves when the hooks are told all that they were to be told. */
export async function notified(loop: Loop): Promise<void> {
  await hooksOf(loop)?.notifying;
}
