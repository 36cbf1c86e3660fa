import { refuse, type PendingCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { chargeBudget } from "./charge-budget.ts";

/** Counts the calls that are about to start, and refuses those for which no budget has room. */
export async function chargeToolCalls(loop: Loop, batch: readonly PendingCall[]): Promise<void> {
  // In the log first: a call that nobody knows after a crash would be counted again under another key.
  await loop.execution.flush();
  for (const call of batch) {
    const refusal = call.answer === undefined ? await chargeBudget(loop, call.key, { toolCalls: 1 }) : undefined;
    if (refusal)
      refuse(
        call,
        `budget-exhausted: the limit of ${refusal.limit} tool calls of the budget "${refusal.scope}" is reached. Answer with what you have.`,
      );
  }
}
