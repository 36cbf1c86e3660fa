import type { ResumeCost } from "../core/resume-cost.ts";
import { formatCost, formatCount } from "./figures.ts";

/** One line about the requests that a session makes when it goes on: their size and their cost. */
export function resumeCostLine({ tokens, counted, windowPart, cost, cachedCost, turnCost }: ResumeCost): string {
  const part = windowPart === undefined ? "" : `, ${Math.round(100 * windowPart)}% of the context window`;
  const size = `${counted ? "about" : "more than"} ${formatCount(tokens)} tokens${part}`;
  if (cost === null) return `goes on with ${size} · ${formatCost(cost)}`;
  const cached = cachedCost === undefined ? "" : `, or ${formatCost(cachedCost)} while the vendor has it cached`;
  return `goes on with ${size} · ${formatCost(cost)}${cached} · then about ${formatCost(turnCost)} a turn`;
}
