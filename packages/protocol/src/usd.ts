import type { Brand } from "./ids.ts";

/** An amount in US dollars as a decimal string ("0.000125"), in memory as on the wire. Unknown cost is `null`, never zero. */
export type Usd = Brand<"Usd">;

const PICO = 12;
const SCALE: bigint = 10n ** 12n;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Reads a decimal amount. A number is taken at its shortest decimal form, so `0.1` is ten cents exactly.
 * @throws RangeError when the value is no finite decimal or has more than 12 decimal places.
 */
export function usd(value: string | number): Usd {
  return formatPico(toPicoUsd(typeof value === "number" ? plainDecimal(value) : value));
}

export function addUsd(a: Usd, b: Usd): Usd {
  return formatPico(toPicoUsd(a) + toPicoUsd(b));
}

export function subtractUsd(a: Usd, b: Usd): Usd {
  return formatPico(toPicoUsd(a) - toPicoUsd(b));
}

/** Negative when `a < b`, zero when equal, positive when `a > b`. */
export function compareUsd(a: Usd, b: Usd): -1 | 0 | 1 {
  const left = toPicoUsd(a);
  const right = toPicoUsd(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The amount in pico-dollars, for arithmetic: cache-read prices are not whole nano-dollars a token. */
export function toPicoUsd(amount: string): bigint {
  const match = DECIMAL.exec(amount);
  if (match === null) throw new RangeError(`"${amount}" is no amount in US dollars: write a decimal such as "0.25"`);
  const [, sign, whole = "0", fraction = ""] = match;
  const digits = fraction.replace(/0+$/, "");
  if (digits.length > PICO) throw new RangeError(`"${amount}" has more than ${PICO} decimal places`);
  const pico = BigInt(whole) * SCALE + BigInt(digits.padEnd(PICO, "0"));
  return sign === "-" ? -pico : pico;
}

export function fromPicoUsd(pico: bigint): Usd {
  return formatPico(pico);
}

export const ZERO_USD: Usd = "0" as Usd;

function formatPico(pico: bigint): Usd {
  const sign = pico < 0n ? "-" : "";
  const magnitude = pico < 0n ? -pico : pico;
  const fraction = (magnitude % SCALE).toString().padStart(PICO, "0").replace(/0+$/, "");
  return `${sign}${magnitude / SCALE}${fraction && `.${fraction}`}` as Usd;
}

/** The shortest decimal form without an exponent, so that what is finer than a pico-dollar is refused, not rounded away. */
function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no amount in US dollars`);
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole = "", fraction = ""] = mantissa.slice(sign.length).split(".");
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  return sign + (point <= 0 ? `0.${"0".repeat(-point)}${digits}` : digits.padEnd(point, "0"));
}
