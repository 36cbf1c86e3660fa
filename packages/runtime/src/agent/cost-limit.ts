import { AgentError, usd, type Usd } from "@keelson/protocol";
import type { AgentLimits } from "./agent.ts";

/** @throws AgentError of kind `invalid-option` when it is no amount */
export function costLimit(maxCost: AgentLimits["maxCost"]): Usd | undefined {
  if (maxCost === undefined) return undefined;
  try {
    return usd(maxCost);
  } catch (cause) {
    throw new AgentError(
      {
        kind: "invalid-option",
        option: "limits.maxCost",
        message: `limits.maxCost is no amount in US dollars: ${JSON.stringify(maxCost)}. Write a decimal such as "0.50".`,
      },
      { cause },
    );
  }
}
