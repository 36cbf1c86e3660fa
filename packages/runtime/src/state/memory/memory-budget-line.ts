/** What counts against one scope, and who waits for it. */
export interface Account {
  readonly spent: bigint[];
  readonly reserved: bigint[];
  /** Open reservations that count against it. */
  open: number;
  /** Who waits for what, by unit, in the order of their tickets. */
  readonly lines: (Place[] | undefined)[];
  /** Those who wait without a place in the line. */
  readonly watchers: Set<() => void>;
}

/**
 * A place in the line: it stands in the line of every account and unit in which its key ever fell short. Tickets order all
 * lines alike, so that no two wait for each other.
 */
export interface Place {
  readonly ticket: number;
  readonly lines: Map<Place[], Account>;
  readonly owner: string | undefined;
  at: number;
  /** Its turn came since it was last tried. */
  isDue: boolean;
  wake: (() => void) | undefined;
}

export function isIdle(account: Account | undefined): boolean {
  return account?.open === 0 && account.watchers.size === 0 && account.lines.every((line) => line === undefined || line.length === 0);
}

/** Puts it into the line of this unit, at the place that its ticket gives it. */
export function joinLine(place: Place, account: Account, unit: number): void {
  const line = (account.lines[unit] ??= []);
  if (place.lines.has(line)) return;
  place.lines.set(line, account);
  let at = line.length;
  while (at > 0 && (line[at - 1] as Place).ticket > place.ticket) at--;
  line.splice(at, 0, place);
}

/** Whether nobody is ahead of it, wherever it stands. */
export function isFirst(place: Place): boolean {
  for (const line of place.lines.keys()) if (line[0] !== place) return false;
  return true;
}

/** Wakes those who watch these accounts, and of each line the first, where it is first in all its lines. */
export function wakeNext(changed: Iterable<Account>): void {
  let wakes: Set<() => void> | undefined;
  for (const account of changed) {
    if (account.watchers.size === 0 && account.lines.length === 0) continue;
    wakes ??= new Set();
    for (const wake of account.watchers) wakes.add(wake);
    for (const line of account.lines) {
      const first = line?.[0];
      if (first === undefined || first.isDue || !isFirst(first)) continue;
      first.isDue = true;
      if (first.wake) wakes.add(first.wake);
    }
  }
  if (wakes) for (const wake of wakes) wake();
}
