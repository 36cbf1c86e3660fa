import type { EstimatedCalls, ReachedLimit, Usd } from "@keelson/protocol";
import { truncated } from "../text/display-width.ts";
import { formatCost, formatDuration } from "./figures.ts";
import { printableLine } from "../text/printable.ts";

/** What the end of a run says beside its reason. */
export interface Ending {
  readonly limit?: ReachedLimit;
  readonly why?: string;
  readonly halted?: { readonly by: string; readonly reason: string };
  readonly estimated?: EstimatedCalls;
}

const MAX_WHY = 300;

/** A sentence for each thing that a person would ask next: which limit it was, who ended it and why, how sure the cost is. */
export function endingWords({ limit, halted, why = halted && `${halted.by}: ${halted.reason}`, estimated }: Ending): string[] {
  const told = why === undefined ? "" : truncated(printableLine(why).trim(), MAX_WHY);
  return [
    // What of failed turns is to be said, their reason says.
    ...(limit === undefined || (limit.name === "maxFailedTurns" && told !== "") ? [] : [limitWords(limit)]),
    ...(told === "" ? [] : [told]),
    ...(estimated === undefined ? [] : [estimateWords(estimated)]),
  ];
}

function limitWords({ name, limit, used, scope }: ReachedLimit): string {
  const of = scope === undefined ? "" : ` of ${printableLine(scope)}`;
  switch (name) {
    case "maxCost":
      return `the budget${of} of ${cost(limit)} allows no more (${cost(used)} used)`;
    case "maxDurationMs":
      return `the time limit${of} of ${formatDuration(Number(limit))} is over`;
    case "deadline":
      return "the deadline that was set from outside is over";
    default:
      return `${used} of ${limit} ${printableLine(NAMES[name] ?? name)}${of} are used`;
  }
}

const NAMES: { readonly [name: string]: string } = {
  maxTurns: "turns",
  maxFailedTurns: "turns in a row without a call that succeeded",
  maxModelCalls: "model calls",
  maxToolCalls: "tool calls",
  maxTokens: "tokens",
};

function cost(amount: number | Usd): string {
  return formatCost(String(amount) as Usd);
}

function estimateWords({ modelCalls, cost: counted, withoutUsage }: EstimatedCalls): string {
  const calls = modelCalls === 1 ? "1 model call" : `${modelCalls} model calls`;
  const as = withoutUsage === "reserve" ? "as all that they could have come to" : "as what was seen of them, which may be too little";
  const told = modelCalls === 1 ? as.replace("they could", "it could").replace("of them", "of it") : as;
  return `of the cost ${counted === null ? "an unknown part" : formatCost(counted)} is estimated: the vendor told no usage of ${calls}, counted ${told}`;
}
