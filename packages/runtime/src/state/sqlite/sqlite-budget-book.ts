import type { Reservation } from "@keelson/protocol";
import {
  type Amounts,
  addTo,
  isCounted,
  readAmounts,
  refusalBy,
  sameAmounts,
  shortageOf,
  waitAnswer,
  writeAmounts,
} from "../kit/budget-amounts.ts";
import {
  noReservation,
  otherReservation,
  otherSettlement,
  REMEMBERED_RETIRED,
  REMEMBERED_SETTLEMENTS,
} from "../kit/budget-ledger-terms.ts";
import { changesOf, idsIn, type PlaceRow, type ReservationRow, scopeIdsOf, type ScopeRow } from "./sqlite-budget-rows.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

const FIND_SCOPE = "SELECT id, name, spent, reserved, open, changes FROM budget_scopes WHERE name = ?";
const SCOPE_AT = "SELECT id, name, spent, reserved, open, changes FROM budget_scopes WHERE id = ?";
const ADD_SCOPE = "INSERT INTO budget_scopes (name, spent, reserved, open, changes) VALUES (?, '', '', 0, 0) RETURNING id";
const KEEP_SCOPE = "UPDATE budget_scopes SET spent = ?, reserved = ?, open = ?, changes = ? WHERE id = ?";
const FIND_RESERVATION = "SELECT key, owner, at, amounts, scopes, presumed FROM budget_reservations WHERE key = ?";
const OPEN_RESERVATIONS = "SELECT key, owner, at, amounts, scopes, presumed FROM budget_reservations WHERE presumed = 0";
const KEEP_RESERVATION = "INSERT OR REPLACE INTO budget_reservations (key, owner, at, amounts, scopes, presumed) VALUES (?, ?, ?, ?, ?, ?)";
const END_RESERVATION = "DELETE FROM budget_reservations WHERE key = ?";
const FIND_SETTLEMENT = "SELECT amounts FROM budget_settlements WHERE key = ?";
const ADD_SETTLEMENT = "INSERT INTO budget_settlements (key, amounts) VALUES (?, ?) RETURNING id";
const FORGET_SETTLEMENTS = "DELETE FROM budget_settlements WHERE id <= ?";
const LINE = "SELECT ticket, key, owner, at, lines, seen FROM budget_line ORDER BY ticket";
const KEEP_PLACE = `
  INSERT INTO budget_line (key, owner, at, lines, seen) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (key) DO UPDATE SET owner = ?2, at = ?3, lines = ?4, seen = ?5`;
const LEAVE_LINE = "DELETE FROM budget_line WHERE key = ? RETURNING lines";
const RETIRE = "INSERT OR IGNORE INTO budget_retired (scope) VALUES (?) RETURNING id";
const RETIRED_LONG_AGO = `
  SELECT r.id, r.scope FROM budget_retired r JOIN budget_scopes s ON s.id = r.scope
  WHERE r.id <= ? AND s.open = 0 AND NOT EXISTS (SELECT 1 FROM budget_line) LIMIT 100`;

/** The tables of the ledger. What changes something belongs into a transaction. */
export interface SqliteBudgetBook {
  id(): string;
  reserve(request: {
    readonly key: string;
    readonly limits: ReadonlyMap<string, Amounts>;
    readonly wanted: Amounts;
    readonly owner: string;
    readonly inTurn: boolean;
  }): Reservation;
  settle(key: string, actual: Amounts): void;
  release(key: string): void;
  retire(scope: string): void;
  spent(scope: string): Amounts;
  /** Presumes spent what dead owners left open, and clears their places. @returns whether there was anything */
  presumeDead(): boolean;
  /** Whether {@link presumeDead} would find something. */
  hasDead(): boolean;
  line(): readonly PlaceRow[];
  scope(name: string): ScopeRow | undefined;
  scopeAt(id: number): ScopeRow | undefined;
}

const RESERVED: Reservation = { type: "reserved" };

export function createSqliteBudgetBook({
  database,
  now,
  presumeSpentAfterMs,
  isDeadOwner,
}: {
  readonly database: SqliteDatabase;
  readonly now: () => number;
  readonly presumeSpentAfterMs: number;
  readonly isDeadOwner: (owner: string) => boolean;
}): SqliteBudgetBook {
  const scopeFrom = (row: { readonly [column: string]: unknown } | undefined): ScopeRow | undefined =>
    row && ({ ...row, spent: readAmounts(row["spent"] as string), reserved: readAmounts(row["reserved"] as string) } as ScopeRow);
  const scope = (name: string): ScopeRow | undefined => scopeFrom(database.prepare(FIND_SCOPE).get(name));
  const scopeAt = (id: number): ScopeRow | undefined => scopeFrom(database.prepare(SCOPE_AT).get(id));

  function openScope(name: string): ScopeRow {
    const id = database.prepare(ADD_SCOPE).get(name)?.["id"] as number;
    return { id, name, spent: [], reserved: [], open: 0, changes: 0 };
  }

  function keepScope({ id, spent, reserved, open, changes }: ScopeRow): void {
    database.prepare(KEEP_SCOPE).run(writeAmounts(spent), writeAmounts(reserved), open, changes, id);
  }

  function scopesOf(reservation: ReservationRow): readonly ScopeRow[] {
    return idsIn(reservation.scopes).map((id) => scopeAt(id) as ScopeRow);
  }

  function line(): readonly PlaceRow[] {
    return database
      .prepare(LINE)
      .all()
      .map((row) => ({ ...row, lines: (row["lines"] as string).split(",") }) as unknown as PlaceRow);
  }

  /** @returns the answer, and every line in which this key falls short */
  function tryReserve(
    key: string,
    limits: ReadonlyMap<string, Amounts>,
    rows: ReadonlyMap<string, ScopeRow | undefined>,
    wanted: Amounts,
    places: readonly PlaceRow[],
  ): { readonly answer: Reservation; readonly short: readonly string[] } {
    for (const [name, limit] of limits) {
      const refusal = refusalBy(name, limit, rows.get(name), wanted);
      if (refusal !== undefined) return { answer: refusal, short: [] };
    }
    const own = places.find((place) => place.key === key);
    const ahead = new Set<string>();
    for (const place of places) if (own === undefined || place.ticket < own.ticket) for (const one of place.lines) ahead.add(one);
    const short: string[] = [];
    let wait: Reservation | undefined;
    for (const [name, limit] of limits) {
      const row = rows.get(name);
      if (row === undefined) continue;
      for (let unit = 0; unit < wanted.length; unit++) {
        if (!isCounted(limit, wanted, unit)) continue;
        // Whoever came first goes first, also where there is room for a later one.
        const available = ahead.has(`${row.id}:${unit}`) ? 0n : shortageOf(limit, row, wanted, unit);
        if (available === undefined) continue;
        wait ??= waitAnswer(name, unit, available);
        short.push(`${row.id}:${unit}`);
      }
    }
    return { answer: wait ?? RESERVED, short };
  }

  function attempt(
    key: string,
    limits: ReadonlyMap<string, Amounts>,
    wanted: Amounts,
  ): ReturnType<typeof tryReserve> & { readonly rows: Map<string, ScopeRow | undefined>; readonly places: readonly PlaceRow[] } {
    const rows = new Map<string, ScopeRow | undefined>();
    for (const name of limits.keys()) rows.set(name, scope(name));
    const places = line();
    return { ...tryReserve(key, limits, rows, wanted, places), rows, places };
  }

  function leave(key: string): void {
    const lines = database.prepare(LEAVE_LINE).get(key)?.["lines"] as string | undefined;
    if (lines !== undefined) touch(lines.split(","));
  }

  /** Those who stood behind may go on. */
  function touch(lines: readonly string[]): void {
    for (const id of scopeIdsOf(lines)) {
      const row = scopeAt(id);
      if (row) keepScope({ ...row, changes: row.changes + 1 });
    }
  }

  function isStanding(reservation: ReservationRow, limits: ReadonlyMap<string, Amounts>, wanted: Amounts): boolean {
    const names = scopesOf(reservation).map(({ name }) => name);
    return sameAmounts(readAmounts(reservation.amounts), wanted) && names.length === limits.size && names.every((name) => limits.has(name));
  }

  function keepReservation(reservation: ReservationRow): void {
    const { key, owner, at, amounts, scopes, presumed } = reservation;
    database.prepare(KEEP_RESERVATION).run(key, owner, at, amounts, scopes, presumed);
  }

  /** Moves an open reservation to what is spent, or back. */
  function presume(reservation: ReservationRow, isPresumed: boolean): void {
    const amounts = readAmounts(reservation.amounts);
    for (const row of scopesOf(reservation)) {
      addTo(row.reserved, amounts, isPresumed ? -1 : 1);
      addTo(row.spent, amounts, isPresumed ? 1 : -1);
      keepScope({ ...row, open: row.open + (isPresumed ? -1 : 1), changes: row.changes + 1 });
    }
    keepReservation({ ...reservation, presumed: isPresumed ? 1 : 0 });
  }

  function close(reservation: ReservationRow, actual: Amounts | undefined): void {
    const amounts = readAmounts(reservation.amounts);
    database.prepare(END_RESERVATION).run(reservation.key);
    for (const row of scopesOf(reservation)) {
      addTo(reservation.presumed ? row.spent : row.reserved, amounts, -1);
      if (actual) addTo(row.spent, actual);
      keepScope({ ...row, open: row.open - (reservation.presumed ? 0 : 1), changes: row.changes + 1 });
    }
  }

  const findReservation = (key: string): ReservationRow | undefined =>
    database.prepare(FIND_RESERVATION).get(key) as ReservationRow | undefined;

  function dead(): { readonly reservations: readonly ReservationRow[]; readonly places: readonly PlaceRow[] } {
    const judged = new Map<string, boolean>();
    const isGone = (owner: string): boolean => {
      let gone = judged.get(owner);
      if (gone === undefined) judged.set(owner, (gone = isDeadOwner(owner)));
      return gone;
    };
    const latest = now() - presumeSpentAfterMs;
    const reservations = database.prepare(OPEN_RESERVATIONS).all() as unknown as readonly ReservationRow[];
    return {
      reservations: reservations.filter(({ owner, at }) => at <= latest || isGone(owner)),
      places: line().filter(({ owner, at }) => at <= latest || isGone(owner)),
    };
  }

  function presumeDead(): boolean {
    const { reservations, places } = dead();
    for (const reservation of reservations) presume(reservation, true);
    for (const { key } of places) leave(key);
    return reservations.length > 0 || places.length > 0;
  }

  return {
    id: () => database.prepare("SELECT id FROM budget_ledger").get()?.["id"] as string,
    scope,
    scopeAt,
    line,
    presumeDead,
    hasDead() {
      const { reservations, places } = dead();
      return reservations.length > 0 || places.length > 0;
    },
    spent: (name) => scope(name)?.spent ?? [],
    reserve({ key, limits, wanted, owner, inTurn }) {
      if (database.prepare(FIND_SETTLEMENT).get(key) !== undefined) return RESERVED;
      const standing = findReservation(key);
      if (standing !== undefined) {
        if (!isStanding(standing, limits, wanted)) throw otherReservation(key);
        if (standing.presumed) presume(standing, false);
        keepReservation({ ...standing, owner, at: now(), presumed: 0 });
        return RESERVED;
      }
      let tried = attempt(key, limits, wanted);
      if (tried.answer.type === "wait" && presumeDead()) tried = attempt(key, limits, wanted);
      const { answer, short, rows, places } = tried;
      const place = places.find((one) => one.key === key);
      if (answer.type === "wait" && (inTurn || place !== undefined)) {
        const lines = [...new Set([...(place?.lines ?? []), ...short])];
        database.prepare(KEEP_PLACE).run(key, owner, now(), lines.join(","), changesOf(lines, scopeAt));
      }
      if (answer.type !== "reserved") return answer;
      const held: number[] = [];
      for (const name of limits.keys()) {
        const row = rows.get(name) ?? openScope(name);
        addTo(row.reserved, wanted);
        row.open += 1;
        keepScope(row);
        held.push(row.id);
      }
      const scopes = held.sort((a, b) => a - b).join(",");
      keepReservation({ key, owner, at: now(), amounts: writeAmounts(wanted), scopes, presumed: 0 });
      if (place !== undefined) leave(key);
      return answer;
    },
    settle(key, actual) {
      const reservation = findReservation(key);
      if (reservation === undefined) {
        const before = database.prepare(FIND_SETTLEMENT).get(key)?.["amounts"] as string | undefined;
        if (before === undefined) throw noReservation(key);
        if (!sameAmounts(readAmounts(before), actual)) throw otherSettlement(key, readAmounts(before), actual);
        return;
      }
      close(reservation, actual);
      const id = database.prepare(ADD_SETTLEMENT).get(key, writeAmounts(actual))?.["id"] as number;
      // Now and then, so that not every settlement pays for it.
      if (id % 256 === 0) database.prepare(FORGET_SETTLEMENTS).run(id - REMEMBERED_SETTLEMENTS);
    },
    release(key) {
      const reservation = findReservation(key);
      if (reservation !== undefined) close(reservation, undefined);
      else leave(key);
    },
    retire(name) {
      const row = scope(name);
      if (row === undefined) return;
      const id = database.prepare(RETIRE).get(row.id)?.["id"] as number | undefined;
      if (id === undefined || id % 64 !== 0) return;
      for (const old of database.prepare(RETIRED_LONG_AGO).all(id - REMEMBERED_RETIRED)) {
        database.prepare("DELETE FROM budget_scopes WHERE id = ?").run(old["scope"] as number);
        database.prepare("DELETE FROM budget_retired WHERE id = ?").run(old["id"] as number);
      }
    },
  };
}
