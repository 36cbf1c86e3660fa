import { UsageError } from "./usage-error.ts";

const SIZE = /^(\d+(?:\.\d+)?)(k|M|G)B?$/i;
const UNIT_BYTES: { readonly [unit: string]: number } = { k: 1e3, m: 1e6, g: 1e9 };

/** Reads "500k", "200M" or "2G". @returns bytes */
export function parseSize(text: string, option: string): number {
  const [, count, unit = ""] = SIZE.exec(text.trim()) ?? [];
  const bytes = Math.round(Number(count) * (UNIT_BYTES[unit.toLowerCase()] ?? Number.NaN));
  if (!Number.isSafeInteger(bytes))
    throw new UsageError(`${option} ${JSON.stringify(text)} is no size`, "Write kilobytes, megabytes or gigabytes: 500k, 200M, 2G.");
  return bytes;
}
