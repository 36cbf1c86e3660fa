import { OperatorError, type ExecutionContext, type SelectBranch } from "@keelson/protocol";
import type { Clock } from "../platform/clock.ts";
import type { Journal } from "./journal.ts";

interface Racing extends Pick<ExecutionContext, "signal" | "step"> {
  readonly clock: Clock;
  readonly journal: Journal;
}

/** The index of the branch that is there first. Rejects where the run is aborted before that. */
export async function firstBranch(execution: Racing, key: string, branches: readonly SelectBranch[]): Promise<number> {
  const { signal, clock } = execution;
  const cleanups: (() => void)[] = [];
  try {
    return await new Promise<number>((resolve, reject) => {
      const cancelled = (): void => reject(cancelledWait(key, signal.reason));
      if (signal.aborted) return cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      cleanups.push(() => signal.removeEventListener("abort", cancelled));
      branches.forEach((branch, index) => {
        const won = (): void => resolve(index);
        if (branch.type === "timer") cleanups.push(clock.after(Math.max(0, branch.at - clock.now()), won));
        else if (branch.type === "inbox") cleanups.push(onUnread(execution, won));
        else void execution.step(branch.spec.key, (attempt) => branch.spec.run(attempt) as Promise<never>).then(won, reject);
      });
    });
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

function onUnread({ journal }: Racing, listen: () => void): () => void {
  const stop = journal.onInbox(({ seq }) => {
    // What was read may be told of late.
    if (seq > journal.state.inboxRead) listen();
  });
  if (journal.hasUnread) listen();
  return stop;
}

function cancelledWait(key: string, reason: unknown): OperatorError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new OperatorError({ kind: "non-retryable", message: `The wait "${key}" was cancelled (${why}).` }, { cause: reason });
}
