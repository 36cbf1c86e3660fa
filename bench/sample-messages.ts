// Messages of many sessions as the benches of searches and appends keep them.
import { availableParallelism, cpus } from "node:os";
import type { NewRecord } from "@keelson/protocol";

let seed = 1;
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;

/** Words as they are in texts: few are frequent, most are rare. */
export function sampleWord(): string {
  return `w${Math.floor(20_000 ** random())}`;
}

/** 20 to 80 words. */
export function sampleText(): string {
  return Array.from({ length: 20 + Math.floor(random() * 60) }, sampleWord).join(" ");
}

export function messageRecord(text: string, index: number): NewRecord {
  return { key: `message/${index}`, type: "message", data: { message: { role: "user", content: [{ type: "text", text }] } } };
}

/** Mean, p50 and p99 as cells of a table. */
export function cellsOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return [mean, at(0.5), at(0.99)].map((time) => time.toFixed(3)).join(" | ");
}

export const machine = `Node ${process.version}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores`;
