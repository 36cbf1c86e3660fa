import type { PlannedCall, Tool } from "@keelson/protocol";
import { describeThrown } from "./describe-thrown.ts";
import { describeValue } from "./describe-value.ts";
import { platformClock, type LeafClock } from "./run-leaf.ts";

/** A `needsApproval` that takes longer counts as `true`. */
const MAX_WAIT_MS = 30_000;

/**
 * Asks the tool if a person must allow a call. Never throws: what cannot be answered is asked about.
 * @returns the reason, for the person; `undefined` if the call needs no approval
 */
export async function approvalReason(
  tool: Pick<Tool, "name" | "needsApproval">,
  value: unknown,
  call: PlannedCall,
  clock: Pick<LeafClock, "after"> = platformClock,
): Promise<string | undefined> {
  const { name } = tool;
  if (tool.needsApproval === undefined) return undefined;
  if (tool.needsApproval === true) return alwaysReason(tool);
  try {
    const answer: unknown = await settledInTime(async () => (tool as Asking).needsApproval(value, call), call.signal, clock);
    if (answer === false) return undefined;
    if (answer === true) return `The tool ${name} needs a person's approval for this call.`;
    return `The needsApproval of ${name} returned ${describeValue(answer).slice(0, 100)} and not true or false, so this call is asked about.`;
  } catch (thrown) {
    return `The needsApproval of ${name} failed, so this call is asked about: ${describeThrown(thrown)}`;
  }
}

/** The reason why a person must allow each call of a tool whose `needsApproval` is `true`. */
export function alwaysReason({ name }: Pick<Tool, "name">): string {
  return `The tool ${name} needs a person's approval for each call.`;
}

type Asking = { readonly needsApproval: Exclude<NonNullable<Tool["needsApproval"]>, true> };

function settledInTime<T>(run: () => Promise<T>, signal: AbortSignal, clock: Pick<LeafClock, "after">): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(new Error("the run was aborted"));
  void run().then(resolve, reject);
  const cancelTimer = clock.after(MAX_WAIT_MS, () => reject(new Error(`it took longer than ${MAX_WAIT_MS} ms`)));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return promise.finally(() => {
    cancelTimer();
    signal.removeEventListener("abort", abort);
  });
}
