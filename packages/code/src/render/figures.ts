import { toPicoUsd, type Usage, type Usd } from "@keelson/protocol";

/** "$0.0234": four places below a dollar, two above. An unknown cost is said to be unknown. */
export function formatCost(cost: Usd | null): string {
  if (cost === null) return "cost unknown";
  const pico = toPicoUsd(cost);
  if (pico === 0n) return "$0";
  const places = pico < 1_000_000_000_000n ? 4 : 2;
  const unit = 10n ** BigInt(12 - places);
  const rounded = (pico + unit / 2n) / unit;
  if (rounded === 0n) return "<$0.0001";
  const scale = 10n ** BigInt(places);
  return `$${rounded / scale}.${(rounded % scale).toString().padStart(places, "0")}`;
}

/** "850", "12.3k", "1.2M" */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${trimmed(count / 1_000)}k`;
  return `${trimmed(count / 1_000_000)}M`;
}

/** "12.3k in, 850 out", with the cached part of the input where the vendor says it. */
export function formatTokens(usage: Usage): string {
  if (usage.inputTokens === null && usage.outputTokens === null) return "tokens unknown";
  const part = (count: number | null): string => (count === null ? "?" : formatCount(count));
  const cached = usage.cacheReadTokens ? ` (${formatCount(usage.cacheReadTokens)} cached)` : "";
  return `${part(usage.inputTokens)} in${cached}, ${part(usage.outputTokens)} out`;
}

/** "85 ms", "1.2 s", "2 m 05 s", "1 h 02 m" */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${trimmed(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 3_600)} h ${String(Math.floor((seconds % 3_600) / 60)).padStart(2, "0")} m`;
}

/** "just now", "5 min ago", "3 h ago", "2 days ago" */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
