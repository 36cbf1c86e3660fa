import { modelFamily } from "../history/model-family.ts";
import type { TokenTarget } from "../token-bound.ts";
import { modelLine } from "./model-line.ts";

/** What the tokens that stand in no request depend on. */
export interface RequestOrigin {
  /** The provider, or the wire, where the model is named without one. */
  readonly host: string;
  readonly family: string;
  readonly line: string;
  /** Whether it has tools, and a schema of the response: about both, vendors tell the model more. */
  readonly shape: string;
}

/** What a vendor counted for a request, beside what was taken for it here. */
export interface Observation {
  readonly origin: RequestOrigin;
  readonly visible: number;
  readonly counted: number;
}

export interface Expected {
  /** Tokens that the vendor makes of what is taken for one here. */
  readonly ratio: number;
  /** Tokens that he adds. */
  readonly hidden: number;
}

/** From what all do to what this very model does: each corrects what those before it left over. */
const LEVELS: readonly ((origin: RequestOrigin) => string)[] = [
  ({ shape }) => shape,
  ({ line, shape }) => `${line} ${shape}`,
  ({ host }) => host,
  ({ host, family, shape }) => `${host} ${family} ${shape}`,
];
/** What speaks for a ratio of 1, in tokens of difference. */
const PRIOR = 1500;
/** Nearer requests tell nothing of the ratio. */
const LEAST_DIFFERENCE = 20;
const LEAST_RATIO = 0.5;
const LARGEST_RATIO = 2;

export function originOf(
  { wire, model }: TokenTarget,
  { tools, output }: { readonly tools: boolean; readonly output: boolean },
): RequestOrigin {
  const host = model.includes("/") ? model.slice(0, model.indexOf("/")) : wire;
  const family = modelFamily(model).toLowerCase();
  return { host, family, line: modelLine(model), shape: `${tools ? "tools" : ""}${output ? "output" : ""}` };
}

/** Learns from observations of any models what requests of one come to. */
export function learnHiddenTokens(observations: readonly Observation[]): (origin: RequestOrigin) => Expected {
  const ratios = new Map([...groupBy(observations, ({ origin }) => origin.line)].map(([line, of]) => [line, ratioOf(of)]));
  const ratioFor = ({ line }: RequestOrigin): number => ratios.get(line) ?? 1;
  let left = observations.map(({ origin, visible, counted }) => ({ origin, rest: counted - ratioFor(origin) * visible }));
  const corrections = LEVELS.map((keyOf) => {
    const found = new Map(
      [...groupBy(left, ({ origin }) => keyOf(origin))].map(([key, of]) => {
        const middle = weightedMedian(of.map(({ rest }) => ({ value: rest, weight: 1 })));
        // One observation says half of what many would.
        return [key, (middle * of.length) / (of.length + 1)];
      }),
    );
    left = left.map(({ origin, rest }) => ({ origin, rest: rest - (found.get(keyOf(origin)) ?? 0) }));
    return found;
  });
  return (origin) => ({
    ratio: ratioFor(origin),
    hidden: LEVELS.reduce((sum, keyOf, level) => sum + (corrections[level]?.get(keyOf(origin)) ?? 0), 0),
  });
}

/** Between requests of one model and shape what is hidden is alike, so that their difference is that of what is seen. */
function ratioOf(observations: readonly Observation[]): number {
  const slopes = [{ value: 1, weight: PRIOR }];
  for (const alike of groupBy(observations, ({ origin: { host, family, shape } }) => `${host} ${family} ${shape}`).values())
    for (const [at, one] of alike.entries())
      for (const other of alike.slice(0, at)) {
        const difference = one.visible - other.visible;
        if (Math.abs(difference) < LEAST_DIFFERENCE) continue;
        slopes.push({ value: (one.counted - other.counted) / difference, weight: Math.abs(difference) / alike.length });
      }
  return Math.min(LARGEST_RATIO, Math.max(LEAST_RATIO, weightedMedian(slopes)));
}

/** The value at which half of the weight is reached; in the middle of two where it is reached exactly between them. */
function weightedMedian(values: readonly { readonly value: number; readonly weight: number }[]): number {
  const ascending = values.toSorted((a, b) => a.value - b.value);
  const half = ascending.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let reached = 0;
  for (const [at, { value, weight }] of ascending.entries()) {
    reached += weight;
    if (reached > half) return value;
    if (reached === half) return (value + (ascending[at + 1]?.value ?? value)) / 2;
  }
  return 0;
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
