import { AgentError, usd, type Usd } from "@keelson/protocol";

/** @throws AgentError of kind `invalid-option` when it is no amount from zero */
export function costLimit(maxCost: Usd | string | number | undefined, option = "limits.maxCost"): Usd | undefined {
  if (maxCost === undefined) return undefined;
  let cost: Usd;
  try {
    cost = usd(maxCost);
  } catch (cause) {
    throw new AgentError(
      {
        kind: "invalid-option",
        option,
        message: `${option} is no amount in US dollars: ${JSON.stringify(maxCost)}. Write a decimal such as "0.50".`,
      },
      { cause },
    );
  }
  if (cost.startsWith("-"))
    throw new AgentError({ kind: "invalid-option", option, message: `${option} must not be negative, not ${cost}.` });
  return cost;
}
