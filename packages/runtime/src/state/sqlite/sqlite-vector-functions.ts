import type { DatabaseSync } from "node:sqlite";
import { warnMissingPackage } from "../../platform/warn-missing-package.ts";

// A name that is not written out in the import, so that nobody who builds or bundles without it is stopped.
const PACKAGE = "sqlite-vec";

const SLOWER = "Vectors are compared in JavaScript, which is slower in large stores";

const loaded = new WeakMap<DatabaseSync, Promise<boolean>>();

/**
 * Whether the connection can compare vectors itself: where the package sqlite-vec is installed and its extension fits this platform, it is loaded
 * with the first call. Without, they are compared in JavaScript, and what is found is the same.
 */
export function hasVectorFunctions(connection: DatabaseSync): Promise<boolean> {
  let known = loaded.get(connection);
  if (known === undefined) loaded.set(connection, (known = load(connection)));
  return known;
}

async function load(connection: DatabaseSync): Promise<boolean> {
  let path: string;
  try {
    path = ((await import(PACKAGE)) as { getLoadablePath(): string }).getLoadablePath();
  } catch (cause) {
    warnMissingPackage(PACKAGE, SLOWER, cause);
    return false;
  }
  // Allowed for as long as this takes. Node's permission model does not allow it.
  if (process.permission !== undefined) return false;
  connection.enableLoadExtension(true);
  try {
    connection.loadExtension(path);
    return connection.prepare("SELECT vec_version() AS version").get()?.["version"] !== undefined;
  } catch (cause) {
    // It does not fit this Node's SQLite.
    warnMissingPackage(PACKAGE, SLOWER, cause);
    return false;
  } finally {
    connection.enableLoadExtension(false);
  }
}
