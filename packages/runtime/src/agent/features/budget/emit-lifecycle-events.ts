import type { JsonObject, LifecycleEvent, LogRecord } from "@keelson/protocol";
import { isRecordOf } from "../../../session/record-data.ts";

/** What is told as an observable fact, by its type: that a run meets its limits outside, and how it goes on. */
const OBSERVABLE: ReadonlySet<string> = new Set(["retry", "model-switch", "rate-limit"]);

/** Tells whoever manages runs what concerns them of these records. They can't harm a run but through its handle: what they throw is a warning. */
export function emitLifecycleEvents(
  records: readonly LogRecord[],
  { tell, warn }: { tell(event: LifecycleEvent): void; warn(message: string): void },
): void {
  for (const record of records) {
    const event = lifecycleEventOf(record);
    if (event === undefined) continue;
    try {
      tell(event);
    } catch (error) {
      warn(`onLifecycleEvent failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function lifecycleEventOf(record: LogRecord): LifecycleEvent | undefined {
  if (isRecordOf(record, "compaction-begin"))
    return { type: "compaction", phase: "before", messageCount: record.data.messages, tokenCount: record.data.tokens };
  if (isRecordOf(record, "compaction")) {
    const { messages, tokensAfter = null, summary } = record.data;
    return { type: "compaction", phase: "after", messageCount: messages.length, tokenCount: tokensAfter, summary };
  }
  const { type, at, data } = record;
  if (type === "budget") return { type, ...data } as LifecycleEvent;
  return OBSERVABLE.has(type) ? { type: "observable", name: type, at, attributes: data as JsonObject } : undefined;
}
