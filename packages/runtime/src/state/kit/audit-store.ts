import { type Scope, StateError } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { StoreObserver } from "../../middleware/store-middleware.ts";
import { scopeName } from "./state-scope.ts";
import { FUNCTION_OPTION } from "../../json/option-rules.ts";

/** That somebody read or changed something, and how it ended: never what it was. */
export interface StoreAuditEntry {
  readonly operation: "read" | "write" | "delete" | "list" | "search";
  /** As in `session/s1`. */
  readonly scope: string;
  /** The key; of a list, the prefix. A search has none: its query may be as private as a value. */
  readonly key?: string;
  /** Unix ms at which it began. */
  readonly at: number;
  readonly durationMs: number;
  /** The version that a write made, or a read found. */
  readonly version?: number;
  /** How many keys or results were found. */
  readonly found?: number;
  /** The kind of the failure: `conflict`, for instance. */
  readonly failure?: string;
}

export interface AuditStoreOptions {
  /** Keeps an entry. Whoever called the store waits for it; where it fails, the call goes on and the stack's `report` is told. */
  readonly record: (entry: StoreAuditEntry) => Promise<void>;
  /** Default: all. */
  readonly operations?: readonly StoreAuditEntry["operation"][] | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

type Found = Pick<StoreAuditEntry, "version" | "found">;

/** Tells who asked a store for what, and what came of it. An observer: it sees what the caller sees, and changes nothing. */
export function auditStore(options: AuditStoreOptions): StoreObserver {
  checkOptionNames("auditStore", options, { record: true, operations: true, now: FUNCTION_OPTION });
  const { record, operations, now = Date.now } = options;
  async function told<T>(
    operation: StoreAuditEntry["operation"],
    scope: Scope,
    key: string | undefined,
    next: () => Promise<T>,
    found: (result: T) => Found,
  ): Promise<void> {
    if (operations !== undefined && !operations.includes(operation)) return;
    const at = now();
    const outcome: Found & Pick<StoreAuditEntry, "failure"> = await next().then(found, (error: unknown) => ({
      failure: StateError.is(error) ? (error as StateError).failure.kind : "other",
    }));
    await record({ operation, scope: scopeName(scope), ...(key !== undefined && { key }), at, durationMs: now() - at, ...outcome });
  }
  return {
    name: "audit-store",
    read: (scope, key, next) =>
      told("read", scope, key, next, (stored) => (stored === undefined ? { found: 0 } : { found: 1, version: stored.version })),
    write: (scope, key, _value, _options, next) => told("write", scope, key, next, (version) => ({ version })),
    delete: (scope, key, next) => told("delete", scope, key, next, () => ({})),
    list: (scope, prefix, _page, next) => told("list", scope, prefix, next, ({ length }) => ({ found: length })),
    search: (scope, _query, _options, next) => told("search", scope, undefined, next, ({ length }) => ({ found: length })),
  };
}
