import { describeCause } from "@keelson/protocol";

/** Whatever was thrown, in words. Never throws itself, whatever its properties do. */
export function describeThrown(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return describeError(thrown);
    if (thrown === undefined || thrown === null || thrown === "") return "an error without a message";
    if (typeof thrown !== "object") return String(thrown);
    const { message } = thrown as { readonly message?: unknown };
    return typeof message === "string" && message !== "" ? message : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return "an error that cannot be described"; // a getter or `toJSON` of the thrown value threw in turn
  }
}

function describeError(error: Error): string {
  const text = describeCause(error) || error.name;
  if (error.cause === undefined || error.cause === null) return text;
  // "fetch failed" alone helps nobody; its cause says why.
  const cause = error.cause instanceof Error ? describeCause(error.cause) : String(error.cause);
  return cause === "" || text.includes(cause) ? text : `${text}: ${cause}`;
}
