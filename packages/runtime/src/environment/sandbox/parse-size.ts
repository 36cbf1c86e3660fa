const UNITS: { readonly [unit: string]: number } = {
  "": 1,
  "b": 1,
  "k": 1e3,
  "m": 1e6,
  "g": 1e9,
  "t": 1e12,
  "ki": 2 ** 10,
  "mi": 2 ** 20,
  "gi": 2 ** 30,
  "ti": 2 ** 40,
};

/** Bytes of `1024`, `512MiB`, `2Gi`, `1.5 GB`; `undefined` when it is no size. */
export function parseSize(size: number | string): number | undefined {
  if (typeof size === "number") return Number.isSafeInteger(size) && size > 0 ? size : undefined;
  const [, digits, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]i?|)b?\s*$/i.exec(size) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const bytes = Math.round(Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}
