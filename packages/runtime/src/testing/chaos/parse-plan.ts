import { AgentError } from "@keelson/protocol";
import type { ChaosFault, PlannedFault } from "./fault.ts";

/**
 * Reads "crash after append#7, 429 at model#2".
 * @param option that has it
 */
export function parsePlan(plan: string, faults: readonly ChaosFault[], option: string): readonly PlannedFault[] {
  return plan.split(", ").map((part) => {
    const place = /^(.+) ([a-z]+#\d+)$/.exec(part);
    const fault = faults.find(({ name }) => name === place?.[1]);
    if (place?.[2] !== undefined && fault !== undefined) return { fault, at: place[2] };
    throw new AgentError({
      kind: "invalid-option",
      option,
      message: `There is no fault as in ${JSON.stringify(part)}. Say a fault and a step of a report, as in "crash after append#7"; there are ${faults.map(({ name }) => `"${name}"`).join(", ")}.`,
    });
  });
}
