// The example of the package's README.
// #region show
import type { AgentEvent } from "@keelson/protocol";

/** A line for each event that a person should see. */
export function describeEvent(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "text-delta":
      return event.text;
    case "status":
      return `${event.level}: ${event.status}`;
    default:
      return undefined;
  }
}
// #endregion
