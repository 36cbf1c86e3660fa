import { type BudgetRows, type Line, lineOf, type PlaceRow, scopeOfLine } from "./budget-rows.ts";
import type { Amounts } from "./budget-amounts.ts";

// Who waits for which scope, first come first served. A place keeps its turn in every line it ever fell short in, and tries again
// when it is the first of all of them and something in their scopes has ended since it last tried.

/** The lines in which others come before this key: all others, where it has no place. */
export function linesAhead(rows: BudgetRows, key: string): ReadonlySet<Line> {
  const ahead = new Set<Line>();
  for (const place of rows.places()) {
    if (place.key === key) break;
    for (const line of place.lines) ahead.add(line);
  }
  return ahead;
}

/** Who is first in each line. */
export function firstOfEach(rows: BudgetRows): ReadonlyMap<Line, string> {
  const first = new Map<Line, string>();
  for (const { key, lines } of rows.places()) for (const line of lines) if (!first.has(line)) first.set(line, key);
  return first;
}

/** Whether the turn of this place has come since it was last tried. */
export function isDue(rows: BudgetRows, place: PlaceRow, first: ReadonlyMap<Line, string>): boolean {
  return isFirst(place, first) && changesOf(rows, scopesOf(place)) !== place.seen;
}

export function isFirst({ key, lines }: PlaceRow, first: ReadonlyMap<Line, string>): boolean {
  return lines.every((line) => first.get(line) === key);
}

/** Puts the key into these lines, or takes note that it was tried again. */
export function standInLine(rows: BudgetRows, who: Pick<PlaceRow, "key" | "owner" | "at">, short: readonly Line[]): void {
  const lines = [...new Set([...(rows.place(who.key)?.lines ?? []), ...short])];
  rows.keepPlace({ ...who, lines, seen: changesOf(rows, scopesOf({ lines })) });
}

/** Takes the key out of all lines, so that those behind it may go on. */
export function leaveLine(rows: BudgetRows, key: string): void {
  const place = rows.place(key);
  if (place === undefined) return;
  rows.dropPlace(key);
  for (const name of scopesOf(place)) {
    const scope = rows.scope(name);
    if (scope !== undefined) rows.keepScope({ ...scope, changes: scope.changes + 1 });
  }
}

/** Grows whenever something ended in these scopes that others may have waited for. */
export function changesOf(rows: BudgetRows, scopes: Iterable<string>): number {
  let sum = 0;
  for (const name of scopes) sum += rows.scope(name)?.changes ?? 0;
  return sum;
}

export function scopesOf({ lines }: Pick<PlaceRow, "lines">): ReadonlySet<string> {
  return new Set(lines.map(scopeOfLine));
}

/** The lines for the units that an amount counts in, where the scope limits them. */
export function countedLines(scope: string, limits: Amounts, wanted: Amounts): readonly { readonly unit: number; readonly line: Line }[] {
  return wanted.flatMap((amount, unit) =>
    amount === undefined || limits[unit] === undefined ? [] : [{ unit, line: lineOf(scope, unit) }],
  );
}
