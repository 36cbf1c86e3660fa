import { UsageError } from "./usage-error.ts";

const AGE = /^(\d+(?:\.\d+)?)(h|d|w)$/;
const UNIT_MS: { readonly [unit: string]: number } = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads "36h", "30d" or "8w". @returns milliseconds */
export function parseAge(text: string, option: string): number {
  const [, count, unit = ""] = AGE.exec(text.trim()) ?? [];
  const ms = Math.round(Number(count) * (UNIT_MS[unit] ?? Number.NaN));
  if (!Number.isSafeInteger(ms))
    throw new UsageError(`${option} ${JSON.stringify(text)} is no age`, "Write hours, days or weeks: 36h, 30d, 8w.");
  return ms;
}
