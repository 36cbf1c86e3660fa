import { refuse, type ReadyCall, type SettledCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { chargeBudget } from "./charge-budget.ts";

/** Counts the calls that are about to start, and refuses those for which no budget has room. @returns them as they go on */
export async function chargeToolCalls(
  loop: Loop,
  batch: readonly (ReadyCall | SettledCall)[],
): Promise<readonly (ReadyCall | SettledCall)[]> {
  // In the log first: a call that nobody knows after a crash would be counted again under another key.
  await loop.execution.flush();
  const charged: (ReadyCall | SettledCall)[] = [];
  for (const call of batch) {
    const refusal = call.state === "ready" ? await chargeBudget(loop, call.key, { toolCalls: 1 }) : undefined;
    charged.push(
      refusal
        ? refuse(
            call,
            `budget-exhausted: the limit of ${refusal.limit} tool calls of the budget "${refusal.scope}" is reached. Answer with what you have.`,
          )
        : call,
    );
  }
  return charged;
}
