import type { RecordSource } from "./read-records.ts";

/** When the log took the record that stands there; 0 where it holds none. */
export function timeAt(source: RecordSource, seq: number): number {
  return source.page(seq - 1)[0]?.at ?? 0;
}
