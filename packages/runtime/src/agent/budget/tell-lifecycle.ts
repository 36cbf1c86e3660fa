import type { LifecycleEvent, LogRecord } from "@keelson/protocol";

/** Tells whoever manages runs what concerns them of these records. They can't harm a run but through its handle: what they throw is a warning. */
export function tellLifecycle(
  records: readonly LogRecord[],
  { tell, warn }: { tell(event: LifecycleEvent): void; warn(message: string): void },
): void {
  for (const { type, data } of records) {
    if (type !== "budget") continue;
    try {
      tell({ type, ...data } as unknown as LifecycleEvent);
    } catch (error) {
      warn(`onLifecycleEvent failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
