import {
  BudgetSheet,
  type PlaceRow,
  readAmounts,
  REMEMBERED_RETIRED,
  REMEMBERED_SETTLEMENTS,
  type ReservationRow,
  type ScopeRow,
  writeAmounts,
} from "keelson/state/kit";
import type { Connection, Row, SentValue } from "./connection/connection.ts";
import { nameIn, storedName, textArray } from "./stored-name.ts";

/** Which rows to read. `all`: every open reservation and every place, with their scopes. */
export interface SheetNeeds {
  readonly keys: readonly string[];
  readonly scopes: readonly string[];
  readonly all: boolean;
}

/** The rows of a ledger, read for one call and written after it. */
export interface PostgresBudgetRows {
  /** @param isLocked keeps the rows that are read from others until the end of the transaction: reservations by key, then scopes by name */
  read(connection: Connection, needs: SheetNeeds, isLocked: boolean): Promise<BudgetSheet>;
  write(connection: Connection, sheet: BudgetSheet): Promise<void>;
}

export function postgresBudgetRows(schema: string): PostgresBudgetRows {
  const reservations = `SELECT key, owner, at, amounts, scopes, presumed FROM ${schema}.budget_reservations`;
  const someReservations = `${reservations} WHERE key = ANY($1::text::text[]) ORDER BY key`;
  const openReservations = `${reservations} WHERE NOT presumed ORDER BY key`;
  const settlements = `SELECT key, amounts FROM ${schema}.budget_settlements WHERE key = ANY($1::text::text[])`;
  const places = `SELECT key, owner, at, lines, seen FROM ${schema}.budget_places ORDER BY ticket`;
  // A scope that nobody has named yet must be there to be locked.
  const addScopes = `INSERT INTO ${schema}.budget_scopes (name) SELECT name FROM unnest($1::text::text[]) AS name ORDER BY name ON CONFLICT (name) DO NOTHING`;
  const scopes = `SELECT name, spent, reserved, open, changes FROM ${schema}.budget_scopes WHERE name = ANY($1::text::text[]) ORDER BY name`;
  const keepScope = `UPDATE ${schema}.budget_scopes SET spent = $2::text, reserved = $3::text, open = $4::text::bigint, changes = $5::text::bigint WHERE name = $1::text`;
  const keepReservation = `
    INSERT INTO ${schema}.budget_reservations (key, owner, at, amounts, scopes, presumed)
    VALUES ($1::text, $2::text, $3::text::bigint, $4::text, $5::text, $6::text::boolean)
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, at = excluded.at, amounts = excluded.amounts, scopes = excluded.scopes, presumed = excluded.presumed`;
  const keepSettlement = `INSERT INTO ${schema}.budget_settlements (key, amounts) VALUES ($1::text, $2::text) RETURNING id`;
  const keepPlace = `
    INSERT INTO ${schema}.budget_places (key, owner, at, lines, seen) VALUES ($1::text, $2::text, $3::text::bigint, $4::text, $5::text::bigint)
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, at = excluded.at, lines = excluded.lines, seen = excluded.seen`;
  const retire = `INSERT INTO ${schema}.budget_retired (scope) VALUES ($1::text) ON CONFLICT (scope) DO NOTHING RETURNING id`;
  const forget = `
    WITH old AS (
      DELETE FROM ${schema}.budget_retired r USING ${schema}.budget_scopes s
      WHERE s.name = r.scope AND s.open = 0 AND r.id <= $1::text::bigint AND NOT EXISTS (SELECT 1 FROM ${schema}.budget_places)
      RETURNING r.scope)
    DELETE FROM ${schema}.budget_scopes s USING old WHERE s.name = old.scope`;

  return {
    async read(connection, { keys, scopes: named, all }, isLocked) {
      const forUpdate = isLocked ? " FOR UPDATE" : "";
      const storedKeys = [textArray(keys.map(storedName))];
      const some = keys.length === 0 ? [] : await connection.query(someReservations + forUpdate, storedKeys);
      const open = all ? await connection.query(openReservations + forUpdate) : [];
      const settled = keys.length === 0 ? [] : await connection.query(settlements, storedKeys);
      const standing = await connection.query(places);
      const found = new Map([...some, ...open].map((row) => [String(row["key"]), reservationIn(row)]));
      const inLine = standing.map(placeIn);
      const names = new Set([
        ...named,
        ...[...found.values()].flatMap((row) => row.scopes),
        ...inLine.flatMap(({ lines }) => lines.map((line) => line.slice(line.indexOf(":") + 1))),
      ]);
      const storedNames = [textArray([...names].map(storedName))];
      if (isLocked && named.length > 0) await connection.query(addScopes, [textArray(named.map(storedName))]);
      const rows = names.size === 0 ? [] : await connection.query(scopes + forUpdate, storedNames);
      return new BudgetSheet({
        scopes: rows.map(scopeIn),
        reservations: found.values(),
        settlements: settled.map((row) => [nameIn(String(row["key"])), readAmounts(String(row["amounts"]))] as const),
        places: inLine,
      });
    },

    async write(connection, sheet) {
      const { changed } = sheet;
      const write = connection.query;
      for (const name of changed.scopes) {
        const row = sheet.scope(name);
        if (row)
          await write(keepScope, [
            storedName(name),
            writeAmounts(row.spent),
            writeAmounts(row.reserved),
            String(row.open),
            String(row.changes),
          ]);
      }
      for (const key of changed.reservations) {
        const row = sheet.reservation(key);
        if (row) await write(keepReservation, reservationOut(row));
        else await write(`DELETE FROM ${schema}.budget_reservations WHERE key = $1::text`, [storedName(key)]);
      }
      for (const key of changed.places) {
        const row = sheet.place(key);
        if (row)
          await write(keepPlace, [storedName(key), ownerOut(row.owner), String(row.at), JSON.stringify(row.lines), String(row.seen)]);
        else await write(`DELETE FROM ${schema}.budget_places WHERE key = $1::text`, [storedName(key)]);
      }
      for (const key of changed.settlements) {
        const [row] = await write(keepSettlement, [storedName(key), writeAmounts(sheet.settlement(key) ?? [])]);
        const id = Number(row?.["id"]);
        // Now and then, so that not every settlement pays for it.
        if (id % 256 === 0)
          await connection.query(`DELETE FROM ${schema}.budget_settlements WHERE id <= $1::text::bigint`, [
            String(id - REMEMBERED_SETTLEMENTS),
          ]);
      }
      for (const name of changed.retired) {
        const [row] = await write(retire, [storedName(name)]);
        const id = Number(row?.["id"] ?? 1);
        if (id % 64 === 0) await write(forget, [String(id - REMEMBERED_RETIRED)]);
      }
    },
  };
}

function scopeIn({ name, spent, reserved, open, changes }: Row): ScopeRow {
  return {
    name: nameIn(String(name)),
    spent: readAmounts(String(spent)),
    reserved: readAmounts(String(reserved)),
    open: Number(open),
    changes: Number(changes),
  };
}

function reservationIn({ key, owner, at, amounts, scopes, presumed }: Row): ReservationRow {
  return {
    key: nameIn(String(key)),
    owner: ownerIn(owner),
    at: Number(at),
    amounts: readAmounts(String(amounts)),
    scopes: JSON.parse(String(scopes)) as readonly string[],
    isPresumed: presumed === true,
  };
}

function reservationOut({ key, owner, at, amounts, scopes, isPresumed }: ReservationRow): readonly SentValue[] {
  return [storedName(key), ownerOut(owner), String(at), writeAmounts(amounts), JSON.stringify(scopes), String(isPresumed)];
}

function placeIn({ key, owner, at, lines, seen }: Row): PlaceRow {
  return {
    key: nameIn(String(key)),
    owner: ownerIn(owner),
    at: Number(at),
    lines: JSON.parse(String(lines)) as PlaceRow["lines"],
    seen: Number(seen),
  };
}

function ownerIn(owner: unknown): string | undefined {
  return owner === null ? undefined : nameIn(String(owner));
}

function ownerOut(owner: string | undefined): string | null {
  return owner === undefined ? null : storedName(owner);
}
