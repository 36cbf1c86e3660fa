import type { Reservation } from "@keelson/protocol";
import { type Amounts, difference, refusalBy, sameAmounts, shortageOf, sum, waitingReservation } from "./budget-amounts.ts";
import { noReservation, otherReservation, otherSettlement } from "./budget-ledger-terms.ts";
import { countedLines, leaveLine, linesAhead, standInLine } from "./budget-queue.ts";
import type { BudgetRows, Line, ReservationRow, ScopeRow } from "./budget-rows.ts";

/** What somebody asks to be held. */
export interface ReserveRequest {
  readonly key: string;
  readonly limits: ReadonlyMap<string, Amounts>;
  readonly wanted: Amounts;
  readonly owner: string | undefined;
  /** Unix ms. */
  readonly at: number;
  readonly inTurn: boolean;
}

const RESERVED: Reservation = { type: "reserved" };

/** Holds the amount against every scope, or none. @throws LogError `invalid-input` where the key is open for something else */
export function reserve(rows: BudgetRows, { key, limits, wanted, owner, at, inTurn }: ReserveRequest): Reservation {
  if (rows.settlement(key) !== undefined) return RESERVED;
  const standing = rows.reservation(key);
  if (standing !== undefined) {
    const isSame =
      sameAmounts(standing.amounts, wanted) && standing.scopes.length === limits.size && standing.scopes.every((name) => limits.has(name));
    if (!isSame) throw otherReservation(key);
    if (standing.isPresumed) presume(rows, standing, false);
    rows.keepReservation({ ...standing, owner, at, isPresumed: false });
    return RESERVED;
  }
  const { reservation, short } = tryReserve(rows, key, limits, wanted);
  if (reservation.type === "wait") {
    if (inTurn || rows.place(key) !== undefined) standInLine(rows, { key, owner, at }, short);
    return reservation;
  }
  if (reservation.type === "reserved") {
    for (const name of limits.keys()) {
      const scope = rows.scope(name) ?? emptyScope(name);
      rows.keepScope({ ...scope, reserved: sum(scope.reserved, wanted), open: scope.open + 1 });
    }
    rows.keepReservation({ key, owner, at, amounts: wanted, scopes: [...limits.keys()], isPresumed: false });
  }
  leaveLine(rows, key);
  return reservation;
}

/** @throws LogError `not-found` without a reservation; `invalid-input` when it was settled for another amount */
export function settle(rows: BudgetRows, key: string, actual: Amounts): void {
  const reservation = rows.reservation(key);
  if (reservation !== undefined) {
    close(rows, reservation, actual);
    rows.keepSettlement(key, actual);
    return;
  }
  const before = rows.settlement(key);
  if (before === undefined) throw noReservation(key);
  if (!sameAmounts(before, actual)) throw otherSettlement(key, before, actual);
}

/** Gives a reservation back, or a place in line. */
export function release(rows: BudgetRows, key: string): void {
  const reservation = rows.reservation(key);
  if (reservation !== undefined) close(rows, reservation, []);
  else leaveLine(rows, key);
}

/** Who is known to have left a reservation or a place behind. */
export type IsLeft = (row: { readonly key: string; readonly owner: string | undefined; readonly at: number }) => boolean;

/** Whether {@link presumeLeft} would find something. */
export function hasLeft(rows: BudgetRows, isLeft: IsLeft): boolean {
  return rows.openReservations().some(isLeft) || rows.places().some(isLeft);
}

/** Presumes spent what was left open, and clears the places that were left. @returns whether there was anything */
export function presumeLeft(rows: BudgetRows, isLeft: IsLeft): boolean {
  const reservations = rows.openReservations().filter(isLeft);
  const places = rows.places().filter(isLeft);
  for (const reservation of reservations) presume(rows, reservation, true);
  for (const { key } of places) leaveLine(rows, key);
  return reservations.length > 0 || places.length > 0;
}

export function emptyScope(name: string): ScopeRow {
  return { name, spent: [], reserved: [], open: 0, changes: 0 };
}

/** @returns the reservation, and every line in which this key falls short */
function tryReserve(
  rows: BudgetRows,
  key: string,
  limits: ReserveRequest["limits"],
  wanted: Amounts,
): { readonly reservation: Reservation; readonly short: readonly Line[] } {
  for (const [name, limit] of limits) {
    const refusal = refusalBy(name, limit, rows.scope(name), wanted);
    if (refusal !== undefined) return { reservation: refusal, short: [] };
  }
  const ahead = linesAhead(rows, key);
  const short: Line[] = [];
  let wait: Reservation | undefined;
  for (const [name, limit] of limits) {
    const scope = rows.scope(name);
    for (const { unit, line } of countedLines(name, limit, wanted)) {
      // Whoever came first goes first, also where there is room for a later one.
      const available = ahead.has(line) ? 0n : shortageOf(limit, scope, wanted, unit);
      if (available === undefined) continue;
      wait ??= waitingReservation(name, unit, available);
      short.push(line);
    }
  }
  return { reservation: wait ?? RESERVED, short };
}

/** Moves an open reservation to what is spent, or back. */
function presume(rows: BudgetRows, reservation: ReservationRow, isPresumed: boolean): void {
  const { amounts } = reservation;
  for (const scope of scopesOf(rows, reservation)) {
    const spent = isPresumed ? sum(scope.spent, amounts) : difference(scope.spent, amounts);
    const reserved = isPresumed ? difference(scope.reserved, amounts) : sum(scope.reserved, amounts);
    rows.keepScope({ ...scope, spent, reserved, open: scope.open + (isPresumed ? -1 : 1), changes: scope.changes + 1 });
  }
  rows.keepReservation({ ...reservation, isPresumed });
}

function close(rows: BudgetRows, reservation: ReservationRow, actual: Amounts): void {
  const { key, amounts, isPresumed } = reservation;
  rows.dropReservation(key);
  for (const scope of scopesOf(rows, reservation)) {
    const changes = scope.changes + 1;
    if (isPresumed) rows.keepScope({ ...scope, spent: sum(difference(scope.spent, amounts), actual), changes });
    else {
      const reserved = difference(scope.reserved, amounts);
      rows.keepScope({ ...scope, reserved, spent: sum(scope.spent, actual), open: scope.open - 1, changes });
    }
  }
}

function scopesOf(rows: BudgetRows, { scopes }: ReservationRow): readonly ScopeRow[] {
  // One that was retired long ago may be forgotten.
  return scopes.map((name) => rows.scope(name)).filter((scope) => scope !== undefined);
}
