const AMOUNT = /^(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Reads an amount such as "12", "12.5" or "12.50".
 * @param {string} text
 * @returns {number} whole cents
 */
export function parseAmount(text) {
  const match = AMOUNT.exec(text.trim());
  if (match === null) throw new Error(`"${text}" is no amount: write it like 12 or 12.50`);
  const [, whole, fraction = "0"] = match;
  return Number(whole) * 100 + Number(fraction);
}

/**
 * Writes cents as an amount with two decimal places.
 * @param {number} cents
 * @param {{ sign?: boolean }} [options] `sign`: write a plus before positive amounts
 * @returns {string}
 */
export function formatAmount(cents, { sign = false } = {}) {
  const magnitude = Math.abs(cents);
  const text = `${Math.floor(magnitude / 100)}.${String(magnitude % 100).padStart(2, "0")}`;
  if (cents < 0) return `-${text}`;
  return sign && cents > 0 ? `+${text}` : text;
}
