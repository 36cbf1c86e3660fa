import type { Scope } from "@keelson/protocol";
import { expect, it } from "vitest";
import { createStoreStack, withStoreMiddleware } from "../../middleware/store-middleware.ts";
import { createMemoryStore } from "../memory/memory-store.ts";
import { auditStore, type AuditStoreOptions, type StoreAuditEntry } from "./audit-store.ts";

const SCOPE: Scope = { type: "session", id: "s" };
const audited = (options: Omit<AuditStoreOptions, "record"> = {}) => {
  let time = 1000;
  const entries: StoreAuditEntry[] = [];
  const observer = auditStore({ record: async (entry) => void entries.push(entry), now: () => time++, ...options });
  return { entries, store: withStoreMiddleware(createMemoryStore(), createStoreStack().observe(observer).build()) };
};

it("tells of each operation what it was about and how it ended, and nothing of values", async () => {
  const { entries, store } = audited();
  await store.write(SCOPE, "k", "secret value", { metadata: { m: "secret" } });
  await expect(store.write(SCOPE, "k", "secret", { ifVersion: 9 })).rejects.toThrow();
  await store.read(SCOPE, "k");
  await store.read(SCOPE, "missing");
  await store.list(SCOPE, "k");
  await store.search(SCOPE, "secret");
  await store.delete(SCOPE, "k");
  const common = { scope: "session/s", durationMs: 1 };
  expect(entries).toEqual([
    { ...common, operation: "write", key: "k", at: 1000, version: 1 },
    { ...common, operation: "write", key: "k", at: 1002, failure: "conflict" },
    { ...common, operation: "read", key: "k", at: 1004, found: 1, version: 1 },
    { ...common, operation: "read", key: "missing", at: 1006, found: 0 },
    { ...common, operation: "list", key: "k", at: 1008, found: 1 },
    { ...common, operation: "search", at: 1010, found: 0 },
    { ...common, operation: "delete", key: "k", at: 1012 },
  ]);
  expect(JSON.stringify(entries)).not.toContain("secret");
});

it("tells of the operations that it is asked for", async () => {
  const { entries, store } = audited({ operations: ["write", "delete"] });
  await store.write(SCOPE, "k", 1);
  await store.read(SCOPE, "k");
  await store.delete(SCOPE, "k");
  expect(entries.map(({ operation }) => operation)).toEqual(["write", "delete"]);
});
