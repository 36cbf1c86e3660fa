const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  "k": 1e3,
  "m": 1e6,
  "g": 1e9,
  "t": 1e12,
  "ki": 2 ** 10,
  "mi": 2 ** 20,
  "gi": 2 ** 30,
  "ti": 2 ** 40,
};

/** Bytes of a size such as "512Mi", "1.5 GB" or "1000000"; nothing where it is no size. */
export function memorySize(text: string): number | undefined {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  return number === undefined || factor === undefined ? undefined : Math.floor(Number(number) * factor);
}
