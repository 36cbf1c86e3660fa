import type { RateLimit } from "@keelson/protocol";

/** What is wrong with what a provider told of its limits; nothing where it can be shown. Providers are anybody's code. */
export function rateLimitProblem({ utilization, resetAt, allowed }: RateLimit): string | undefined {
  if (utilization !== null && !(typeof utilization === "number" && utilization >= 0 && utilization <= 1))
    return `utilization must be a ratio from 0 to 1, or null, not ${JSON.stringify(utilization)}`;
  if (resetAt !== null && !Number.isFinite(resetAt)) return `resetAt must be a time in Unix ms, or null, not ${JSON.stringify(resetAt)}`;
  if (typeof allowed !== "boolean") return `allowed must be true or false, not ${JSON.stringify(allowed)}`;
  return undefined;
}
