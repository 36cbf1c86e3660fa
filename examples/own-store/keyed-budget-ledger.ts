import type { BudgetLedger } from "@keelson/protocol";
import { isDeadOwner, processOwner } from "keelson/state";
import {
  type BudgetBackend,
  BudgetSheet,
  createBudgetLedger,
  LOOK_FOR_DEAD_EVERY_MS,
  type PlaceRow,
  pollAlive,
  PRESUME_SPENT_AFTER_MS,
  readAmounts,
  type ReservationRow,
  type ScopeRow,
  writeAmounts,
} from "keelson/state/kit";
import type { KeyedServer, Values } from "./keyed-server.ts";

/** A ledger on a server that keeps texts by name. */
export function createKeyedBudgetLedger(
  server: KeyedServer,
  options: { readonly now?: () => number; readonly isDeadOwner?: (owner: string) => boolean } = {},
): BudgetLedger {
  return createBudgetLedger(keyedBudgets(server), {
    id: "keyed",
    owner: processOwner(),
    durability: "power",
    presumeSpentAfterMs: PRESUME_SPENT_AFTER_MS,
    isDeadOwner: options.isDeadOwner ?? isDeadOwner,
    now: options.now ?? Date.now,
    lookEveryMs: LOOK_FOR_DEAD_EVERY_MS,
    poll: pollAlive,
    assertOpen() {},
  });
}

// #region ledger
/** It reads all rows for each call, and writes those that the call changed. */
function keyedBudgets(server: KeyedServer): BudgetBackend {
  return {
    change: (_needs, _durability, work) =>
      server.transaction(async (values) => {
        const sheet = await readSheet(server);
        const result = work(sheet);
        await writeSheet(server, sheet, values);
        return result;
      }),
    look: async (_needs, work) => work(await readSheet(server)),
    listen: (wake) => server.watch(wake),
  };
}
// #endregion

type Written<Row, Names extends keyof Row> = Omit<Row, Names> & { readonly [Name in Names]: string };

async function readSheet(server: KeyedServer): Promise<BudgetSheet> {
  const rows = new Map(await server.entries("budget/"));
  const all = <T>(kind: string): readonly T[] =>
    [...rows].filter(([name]) => name.startsWith(`budget/${kind}/`)).map(([, text]) => JSON.parse(text) as T);
  return new BudgetSheet({
    scopes: all<Written<ScopeRow, "spent" | "reserved">>("scope").map((row) => ({
      ...row,
      spent: readAmounts(row.spent),
      reserved: readAmounts(row.reserved),
    })),
    reservations: all<Written<ReservationRow, "amounts">>("reservation").map((row) => ({ ...row, amounts: readAmounts(row.amounts) })),
    settlements: all<readonly [string, string]>("settlement").map(([key, amounts]) => [key, readAmounts(amounts)]),
    places: all<PlaceRow & { readonly ticket: number }>("place").toSorted((a, b) => a.ticket - b.ticket),
  });
}

async function writeSheet(server: KeyedServer, sheet: BudgetSheet, values: Values): Promise<void> {
  const { changed } = sheet;
  for (const name of changed.scopes) {
    const row = sheet.scope(name);
    if (row)
      values.set(`budget/scope/${name}`, JSON.stringify({ ...row, spent: writeAmounts(row.spent), reserved: writeAmounts(row.reserved) }));
  }
  for (const key of changed.reservations) {
    const row = sheet.reservation(key);
    values.set(`budget/reservation/${key}`, row && JSON.stringify({ ...row, amounts: writeAmounts(row.amounts) }));
  }
  for (const key of changed.settlements) {
    values.set(`budget/settlement/${key}`, JSON.stringify([key, writeAmounts(sheet.settlement(key) ?? [])]));
  }
  let last = Number((await server.get("last-ticket")) ?? "0");
  for (const key of changed.places) {
    const row = sheet.place(key);
    const before = await server.get(`budget/place/${key}`);
    const ticket = before === undefined ? ++last : (JSON.parse(before) as { readonly ticket: number }).ticket;
    values.set(`budget/place/${key}`, row && JSON.stringify({ ...row, ticket }));
  }
  values.set("last-ticket", String(last));
}
