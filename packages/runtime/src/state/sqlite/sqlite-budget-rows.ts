import { type Amounts, readAmounts, writeAmounts } from "../kit/budget-amounts.ts";
import { REMEMBERED_RETIRED, REMEMBERED_SETTLEMENTS } from "../kit/budget-ledger-terms.ts";
import {
  type BudgetRows,
  type Line,
  lineOf,
  type PlaceRow,
  type ReservationRow,
  type ScopeRow,
  scopeOfLine,
  unitOfLine,
} from "../kit/budget-rows.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

const SCOPE = "SELECT id, name, spent, reserved, open, changes FROM budget_scopes";
const KEEP_SCOPE = `
  INSERT INTO budget_scopes (name, spent, reserved, open, changes) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (name) DO UPDATE SET spent = ?2, reserved = ?3, open = ?4, changes = ?5`;
const RESERVATION = "SELECT key, owner, at, amounts, scopes, presumed FROM budget_reservations";
const KEEP_RESERVATION = "INSERT OR REPLACE INTO budget_reservations (key, owner, at, amounts, scopes, presumed) VALUES (?, ?, ?, ?, ?, ?)";
const ADD_SETTLEMENT = "INSERT INTO budget_settlements (key, amounts) VALUES (?, ?) RETURNING id";
const PLACE = "SELECT key, owner, at, lines, seen FROM budget_line";
const KEEP_PLACE = `
  INSERT INTO budget_line (key, owner, at, lines, seen) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (key) DO UPDATE SET owner = ?2, at = ?3, lines = ?4, seen = ?5`;
const RETIRE = "INSERT OR IGNORE INTO budget_retired (scope) SELECT id FROM budget_scopes WHERE name = ? RETURNING id";
const RETIRED_LONG_AGO = `
  SELECT r.id, r.scope FROM budget_retired r JOIN budget_scopes s ON s.id = r.scope
  WHERE r.id <= ? AND s.open = 0 AND NOT EXISTS (SELECT 1 FROM budget_line) LIMIT 100`;

type Columns = { readonly [name: string]: unknown };

/** The tables of the ledger. What changes something belongs into a transaction. Scopes and lines are written by the numbers of scopes. */
export class SqliteBudgetRows implements BudgetRows {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  scope(name: string): ScopeRow | undefined {
    const row = this.#database.prepare(`${SCOPE} WHERE name = ?`).get(name);
    return row && scopeIn(row);
  }
  keepScope({ name, spent, reserved, open, changes }: ScopeRow): void {
    this.#database.prepare(KEEP_SCOPE).run(name, writeAmounts(spent), writeAmounts(reserved), open, changes);
  }
  reservation(key: string): ReservationRow | undefined {
    const row = this.#database.prepare(`${RESERVATION} WHERE key = ?`).get(key);
    return row && this.#reservationIn(row);
  }
  openReservations(): readonly ReservationRow[] {
    const rows = this.#database.prepare(`${RESERVATION} WHERE presumed = 0`).all();
    return rows.map((row) => this.#reservationIn(row));
  }
  keepReservation({ key, owner = "", at, amounts, scopes, isPresumed }: ReservationRow): void {
    const ids = scopes.map((name) => this.#idOf(name)).sort((a, b) => a - b);
    this.#database.prepare(KEEP_RESERVATION).run(key, owner, at, writeAmounts(amounts), ids.join(","), isPresumed ? 1 : 0);
  }
  dropReservation(key: string): void {
    this.#database.prepare("DELETE FROM budget_reservations WHERE key = ?").run(key);
  }
  settlement(key: string): Amounts | undefined {
    const row = this.#database.prepare("SELECT amounts FROM budget_settlements WHERE key = ?").get(key);
    return row && readAmounts(row["amounts"] as string);
  }
  keepSettlement(key: string, amounts: Amounts): void {
    const id = this.#database.prepare(ADD_SETTLEMENT).get(key, writeAmounts(amounts))?.["id"] as number;
    // Now and then, so that not every settlement pays for it.
    if (id % 256 === 0) this.#database.prepare("DELETE FROM budget_settlements WHERE id <= ?").run(id - REMEMBERED_SETTLEMENTS);
  }
  place(key: string): PlaceRow | undefined {
    const row = this.#database.prepare(`${PLACE} WHERE key = ?`).get(key);
    return row && this.#placeIn(row);
  }
  places(): readonly PlaceRow[] {
    const rows = this.#database.prepare(`${PLACE} ORDER BY ticket`).all();
    return rows.map((row) => this.#placeIn(row));
  }
  keepPlace({ key, owner = "", at, lines, seen }: PlaceRow): void {
    const written = lines.map((line) => `${this.#idOf(scopeOfLine(line))}:${unitOfLine(line)}`);
    this.#database.prepare(KEEP_PLACE).run(key, owner, at, written.join(","), seen);
  }
  dropPlace(key: string): void {
    this.#database.prepare("DELETE FROM budget_line WHERE key = ?").run(key);
  }
  retire(name: string): void {
    const id = this.#database.prepare(RETIRE).get(name)?.["id"] as number | undefined;
    if (id === undefined || id % 64 !== 0) return;
    for (const old of this.#database.prepare(RETIRED_LONG_AGO).all(id - REMEMBERED_RETIRED)) {
      this.#database.prepare("DELETE FROM budget_scopes WHERE id = ?").run(old["scope"] as number);
      this.#database.prepare("DELETE FROM budget_retired WHERE id = ?").run(old["id"] as number);
    }
  }

  #idOf(name: string): number {
    return this.#database.prepare("SELECT id FROM budget_scopes WHERE name = ?").get(name)?.["id"] as number;
  }
  /** Nothing for one that was forgotten. */
  #nameAt(id: string): string | undefined {
    return this.#database.prepare("SELECT name FROM budget_scopes WHERE id = ?").get(Number(id))?.["name"] as string | undefined;
  }
  #reservationIn({ key, owner, at, amounts, scopes, presumed }: Columns): ReservationRow {
    return {
      key: key as string,
      owner: ownerIn(owner),
      at: at as number,
      amounts: readAmounts(amounts as string),
      scopes: listIn(scopes)
        .map((id) => this.#nameAt(id))
        .filter((name) => name !== undefined),
      isPresumed: presumed === 1,
    };
  }
  #placeIn({ key, owner, at, lines, seen }: Columns): PlaceRow {
    return {
      key: key as string,
      owner: ownerIn(owner),
      at: at as number,
      lines: listIn(lines).flatMap((line) => this.#linesIn(line)),
      seen: seen as number,
    };
  }
  #linesIn(text: string): readonly Line[] {
    const [id = "", unit] = text.split(":");
    const name = this.#nameAt(id);
    return name === undefined ? [] : [lineOf(name, Number(unit))];
  }
}

function scopeIn({ name, spent, reserved, open, changes }: Columns): ScopeRow {
  return {
    name: name as string,
    spent: readAmounts(spent as string),
    reserved: readAmounts(reserved as string),
    open: open as number,
    changes: changes as number,
  };
}

function ownerIn(owner: unknown): string | undefined {
  return owner === "" ? undefined : (owner as string);
}

function listIn(text: unknown): readonly string[] {
  return text === "" ? [] : (text as string).split(",");
}
