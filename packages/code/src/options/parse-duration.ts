import { UsageError } from "./usage-error.ts";

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
// setTimeout's own limit; a longer wait would fire at once.
const MAX_MS = 2 ** 31 - 1;

/** Reads "90", "90s", "10m", "1.5h" or "500ms"; a bare number is seconds. @returns milliseconds */
export function parseDuration(text: string, option: string): number {
  const match = DURATION.exec(text.trim());
  const ms = match === null ? Number.NaN : Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? "s"] ?? Number.NaN));
  if (!(ms > 0) || ms > MAX_MS)
    throw new UsageError(`${option} ${JSON.stringify(text)} is no duration`, "Write seconds or a unit, up to 24 days: 90, 90s, 10m, 1.5h.");
  return ms;
}
