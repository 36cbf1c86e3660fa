import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

let isBoundByPosition: boolean | undefined;

/**
 * Prepares a statement whose parameters may be numbered ("?1"). Node 22 takes these for named ones, which it does not bind by their position;
 * there the values are given with their names.
 */
export function prepareNumbered(connection: DatabaseSync, sql: string): StatementSync {
  const statement = connection.prepare(sql);
  if (!/\?\d/.test(sql) || bindsByPosition(connection)) return statement;
  const name = (values: readonly SQLInputValue[]): Record<string, SQLInputValue> =>
    Object.fromEntries(values.map((value, at) => [`?${at + 1}`, value]));
  const { get, all, run, iterate } = statement;
  return Object.assign(statement, {
    get: (...values: readonly SQLInputValue[]) => get.call(statement, name(values)),
    all: (...values: readonly SQLInputValue[]) => all.call(statement, name(values)),
    run: (...values: readonly SQLInputValue[]) => run.call(statement, name(values)),
    iterate: (...values: readonly SQLInputValue[]) => iterate.call(statement, name(values)),
  });
}

function bindsByPosition(connection: DatabaseSync): boolean {
  if (isBoundByPosition !== undefined) return isBoundByPosition;
  try {
    isBoundByPosition = connection.prepare("SELECT ?1 AS value").get(1)?.["value"] === 1;
  } catch {
    // Refused as an index of a parameter that does not exist.
    isBoundByPosition = false;
  }
  return isBoundByPosition;
}
