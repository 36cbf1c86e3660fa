import type * as Sqlite from "node:sqlite";

let loaded: typeof Sqlite | undefined;

/** Returns `node:sqlite`, loaded with its first use. Older versions of Node warn at that moment that SQLite is experimental; users of a log cannot act on it. */
export function nodeSqlite(): typeof Sqlite {
  return (loaded ??= withoutSqliteWarning(() => process.getBuiltinModule("node:sqlite")));
}

/** Drops that one warning while the module loads, which is synchronous; all other warnings pass. */
function withoutSqliteWarning<T>(load: () => T): T {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning");
  const { emitWarning } = process;
  const filter = (...args: Parameters<typeof emitWarning>): void => {
    const [warning, type] = args as readonly unknown[];
    if (type === "ExperimentalWarning" && typeof warning === "string" && warning.startsWith("SQLite ")) return;
    Reflect.apply(emitWarning, process, args);
  };
  Object.defineProperty(process, "emitWarning", { value: filter, configurable: true, writable: true });
  try {
    return load();
  } finally {
    if (own === undefined) Reflect.deleteProperty(process, "emitWarning");
    else Object.defineProperty(process, "emitWarning", own);
  }
}
