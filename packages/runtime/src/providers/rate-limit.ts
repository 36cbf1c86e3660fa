import type { RateLimit } from "@keelson/protocol";
import type { HeaderLookup } from "./vendor-failure.ts";

/** Below this much use nobody needs to be told. */
const NOTEWORTHY = 0.8;

/** The limits that these header families count. */
const COUNTED = ["requests", "tokens", "input-tokens", "output-tokens"];

/** How the headers begin in which vendors tell of their limits. */
export type RateLimitHeaders = "anthropic-ratelimit" | "x-ratelimit";

interface LimitHeaders {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const HEADERS: { readonly [prefix in RateLimitHeaders]: readonly LimitHeaders[] } = {
  "anthropic-ratelimit": COUNTED.map((counted) => ({
    limit: `anthropic-ratelimit-${counted}-limit`,
    remaining: `anthropic-ratelimit-${counted}-remaining`,
    reset: `anthropic-ratelimit-${counted}-reset`,
  })),
  "x-ratelimit": COUNTED.map((counted) => ({
    limit: `x-ratelimit-limit-${counted}`,
    remaining: `x-ratelimit-remaining-${counted}`,
    reset: `x-ratelimit-reset-${counted}`,
  })),
};

/**
 * The tightest of the limits that the headers of a response tell of, `anthropic-ratelimit-tokens-remaining` or
 * `x-ratelimit-remaining-tokens`; `undefined` while less than four fifths of it are used.
 */
export function readRateLimit(response: HeaderLookup, prefix: RateLimitHeaders, now: number): RateLimit | undefined {
  let tightest: RateLimit | undefined;
  for (const named of HEADERS[prefix]) {
    const granted = response.header(named.limit);
    if (granted === undefined) continue;
    const limit = Number(granted);
    const remaining = Number(response.header(named.remaining) ?? Number.NaN);
    if (!(limit > 0) || !(remaining >= 0)) continue;
    const utilization = Math.min(1, Math.max(0, 1 - remaining / limit));
    if (utilization < NOTEWORTHY || utilization <= (tightest?.utilization ?? 0)) continue;
    tightest = { utilization, resetAt: resetTime(response.header(named.reset), now), allowed: true };
  }
  return tightest;
}

/** A date, or a duration such as `6m0s`, `1.5s`, `20ms`. */
function resetTime(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const duration = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text);
  if (duration !== null && text !== "") {
    const [, hours = "0", minutes = "0", seconds = "0", millis = "0"] = duration;
    return now + Math.ceil(Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(millis));
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : date;
}
