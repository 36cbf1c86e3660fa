import type { OperatorMetadata, SubDispatchRecord } from "../operator-output.ts";
import type { Usage } from "../usage.ts";
import { ZERO_USD, type Usd } from "../usd.ts";

/** The account of a run as an operator gives it: what nobody knows is zero there, and named in `untracked`. */
export function operatorMetadataOf(run: {
  readonly usage: Usage;
  readonly cost: Usd | null;
  readonly turns: number;
  readonly durationMs: number | null;
  readonly subDispatches?: readonly SubDispatchRecord[];
}): OperatorMetadata {
  const untracked: string[] = [];
  const known = <T>(name: string, value: T | null, zero: T): T => {
    if (value !== null) return value;
    untracked.push(name);
    return zero;
  };
  return {
    tokensIn: known("tokensIn", run.usage.inputTokens, 0),
    tokensOut: known("tokensOut", run.usage.outputTokens, 0),
    cost: known("cost", run.cost, ZERO_USD),
    turnsUsed: run.turns,
    subDispatches: run.subDispatches ?? [],
    durationMs: known("durationMs", run.durationMs, 0),
    untracked,
  };
}
