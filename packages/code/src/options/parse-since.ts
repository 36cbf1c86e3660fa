import { parseAge } from "./parse-age.ts";
import { UsageError } from "./usage-error.ts";

/** A time in Unix ms, or so long before now. */
export type Since = { readonly at: number } | { readonly ageMs: number };

const DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const AGE = /^[\d.]+[a-z]$/;

/** Reads "7d" (as `parseAge` does), "2026-11-20" (the beginning of that day here), "2026-11-20T09:30" and "2026-11-20T09:30Z". */
export function parseSince(given: string, option: string): Since {
  const text = given.trim();
  if (AGE.test(text)) return { ageMs: parseAge(text, option) };
  const day = DATE.exec(text)?.[1];
  const at = day === undefined || !isDay(day) ? Number.NaN : Date.parse(day === text ? `${text}T00:00` : text);
  if (Number.isNaN(at))
    throw new UsageError(
      `${option} ${JSON.stringify(given)} is no time`,
      "Write a date or an age: 2026-11-20, 2026-11-20T09:30, 36h, 7d, 8w.",
    );
  return { at };
}

/** The 30th of February is none, though JavaScript takes it for a day of March. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
