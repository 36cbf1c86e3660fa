import type { ChaosFault, PlannedFault } from "./fault.ts";
import { randomNumbers } from "./random-numbers.ts";
import type { ChaosStep } from "./step.ts";

export interface PlanOptions {
  readonly faults: readonly ChaosFault[];
  readonly steps: readonly ChaosStep[];
  readonly seed: string;
  /** Runs with two faults each. */
  readonly pairs: number;
}

/**
 * Every fault at every step that it can befall, broadly first: one of each fault and kind of step, then a second of each, and so on, so
 * that whoever stops early has seen something of everything. Runs with two faults come last.
 */
export function planRuns({ faults, steps, seed, pairs }: PlanOptions): readonly (readonly PlannedFault[])[] {
  const random = randomNumbers(`${seed} order`);
  const groups = new Map<string, PlannedFault[]>();
  for (const fault of faults) {
    for (const step of steps) {
      if (!fault.seams.includes(step.seam) || fault.befalls?.(step) === false) continue;
      const kind = `${fault.name} ${step.seam} ${kindOf(step)}`;
      groups.set(kind, [...(groups.get(kind) ?? []), { fault, at: step.id }]);
    }
  }
  for (const group of groups.values()) shuffle(group, random);
  const singles: PlannedFault[] = [];
  const deepest = Math.max(0, ...[...groups.values()].map(({ length }) => length));
  for (let depth = 0; depth < deepest; depth++)
    for (const group of groups.values()) {
      const next = group[depth];
      if (next !== undefined) singles.push(next);
    }
  return [...singles.map((single) => [single]), ...drawPairs(singles, pairs, random)];
}

/** Two steps of one kind are about the same, but for the ids in it. */
function kindOf({ about }: ChaosStep): string {
  return about.replaceAll(/[cr]_\S+|\d+/g, "");
}

function shuffle(items: PlannedFault[], random: () => number): void {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [items[at], items[other]] = [items[other] as PlannedFault, items[at] as PlannedFault];
  }
}

function drawPairs(singles: readonly PlannedFault[], count: number, random: () => number): readonly (readonly PlannedFault[])[] {
  if (new Set(singles.map(({ at }) => at)).size < 2) return [];
  const draw = (): PlannedFault => singles[Math.floor(random() * singles.length)] as PlannedFault;
  return Array.from({ length: count }, () => {
    const first = draw();
    let second = draw();
    while (second.at === first.at) second = draw();
    return [first, second];
  });
}
