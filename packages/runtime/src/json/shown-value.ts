/** A value as a message shows it, whatever it is. */
export function shownValue(value: unknown): string {
  if (typeof value === "function") return `the function ${value.name || "that has no name"}`;
  return (typeof value === "symbol" ? undefined : safeJson(value)) ?? String(value);
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
