const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The names of each unit, in milliseconds. A month is 30.44 days and a year 365.25, as in Rust's humantime. */
const UNITS: ReadonlyMap<string, number> = new Map(
  [
    [["ns", "nsec"], 1e-6],
    [["us", "usec"], 1e-3],
    [["ms", "msec"], 1],
    [["s", "sec", "secs", "second", "seconds"], SECOND],
    [["m", "min", "mins", "minute", "minutes"], MINUTE],
    [["h", "hr", "hrs", "hour", "hours"], HOUR],
    [["d", "day", "days"], DAY],
    [["w", "week", "weeks"], 7 * DAY],
    [["M", "month", "months"], 30.44 * DAY],
    [["y", "year", "years"], 365.25 * DAY],
  ].flatMap(([names, ms]) => (names as string[]).map((name): [string, number] => [name, ms as number])),
);

const PART = /\s*(\d+)\s*([A-Za-z]+)\s*/y;

/**
 * Reads a duration such as `"30s"`, `"1h 30m"` or `"2days 5ms"` into milliseconds.
 * @throws RangeError that quotes the text and says how to write one
 */
export function parseDuration(text: string): number {
  let total = 0;
  PART.lastIndex = 0;
  do {
    const start = PART.lastIndex;
    const match = PART.exec(text);
    const unit = match === null ? undefined : UNITS.get(match[2]!);
    if (match === null || unit === undefined) {
      const what =
        match === null ? `cannot be read from ${JSON.stringify(text.slice(start))} on` : `has the unknown unit ${JSON.stringify(match[2])}`;
      throw new RangeError(`The duration ${JSON.stringify(text)} ${what}: write numbers with units, as in "30s", "1h 30m" or "2days".`);
    }
    total += Number(match[1]) * unit;
    PART.lastIndex = start + match[0].length;
  } while (PART.lastIndex < text.length);
  if (!Number.isSafeInteger(Math.ceil(total)))
    throw new RangeError(`The duration ${JSON.stringify(text)} is too long to count in milliseconds.`);
  return total;
}

/**
 * Writes whole milliseconds so that `parseDuration` reads the same number: `5_400_000` is `"1h 30m"`, `0` is `"0s"`.
 * @throws RangeError for what is no whole, non-negative number
 */
export function formatDuration(milliseconds: number): string {
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 0)
    throw new RangeError(`${milliseconds} is no duration: give whole milliseconds, 0 or more.`);
  let rest = milliseconds;
  const parts: string[] = [];
  for (const [unit, name] of [
    [DAY, "day"],
    [HOUR, "h"],
    [MINUTE, "m"],
    [SECOND, "s"],
    [1, "ms"],
  ] as const) {
    const amount = Math.floor(rest / unit);
    rest -= amount * unit;
    if (amount > 0) parts.push(`${amount}${name}${name === "day" && amount > 1 ? "s" : ""}`);
  }
  return parts.length === 0 ? "0s" : parts.join(" ");
}
