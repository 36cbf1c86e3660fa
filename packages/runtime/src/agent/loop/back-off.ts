import type { Execution } from "../../session/execution.ts";

/**
 * Waits for a recorded time, or until the run is aborted or asked to stop.
 * @param atMostMs bounds the wait where the clock was set back since `at` was recorded
 */
export async function backOff(execution: Execution, key: string, at: number, atMostMs: number): Promise<void> {
  if (execution.has(key)) return;
  await execution.flush();
  await execution.wait(Math.min(atMostMs, Math.max(0, at - execution.clock.now())));
  if (!execution.signal.aborted) execution.put(key, "slept", { until: at });
}
