import { displayWidth } from "../text/display-width.ts";
import type { Paint } from "../text/style.ts";

/** A short text beside others in one line. */
export interface RankedFact {
  /** Without control characters and without colours. */
  readonly text: string;
  /** The same in fewer columns. Absent: there is none. */
  readonly short?: string;
  /** Facts of a lower rank stay longer if there is little room. */
  readonly rank: number;
  readonly paint?: Paint;
}

export interface FittingOptions {
  readonly columns: number;
  /** Between two facts. Default: a dot with blanks. */
  readonly separator?: string;
}

const SEPARATOR = " · ";

/**
 * Returns the facts that fit into one line, painted, in the order in which they were given. A fact is shown whole, in its short form, or not at all;
 * the short form is used before another fact is left out.
 */
export function fittingFacts(facts: readonly RankedFact[], { columns, separator = SEPARATOR }: FittingOptions): readonly string[] {
  const chosen = new Map<RankedFact, string>();
  const between = displayWidth(separator);
  let left = columns + between;
  const byRank = facts.toSorted((a, b) => a.rank - b.rank);
  for (const fact of byRank) {
    const least = fact.short ?? fact.text;
    const width = displayWidth(least) + between;
    if (width > left) continue;
    chosen.set(fact, least);
    left -= width;
  }
  for (const fact of byRank) {
    const least = chosen.get(fact);
    if (least === undefined || least === fact.text) continue;
    const more = displayWidth(fact.text) - displayWidth(least);
    if (more > left) continue;
    chosen.set(fact, fact.text);
    left -= more;
  }
  return facts.flatMap((fact) => {
    const text = chosen.get(fact);
    return text === undefined ? [] : [fact.paint === undefined ? text : fact.paint(text)];
  });
}
