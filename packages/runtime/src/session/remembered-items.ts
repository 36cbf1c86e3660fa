import type { JsonObject, JsonValue, Scope, SessionId, StateStore } from "@keelson/protocol";
import { digestOf } from "../json/digest.ts";
import { linksOf, memoryLinkKey } from "../state/kit/state-link.ts";
import { scopeName } from "../state/kit/state-scope.ts";

/** Where a value was written: by a record of a session's log. */
export interface Provenance {
  readonly session: SessionId;
  /** The `seq` of the record. */
  readonly record: number;
}

/** The member of a value's metadata that says so. */
export function provenanceMetadata({ session, record }: Provenance): JsonObject {
  return { from: { session, record } };
}

/** @returns nothing for a value that no run wrote */
export function provenanceIn(metadata: JsonObject | undefined): Provenance | undefined {
  const from = metadata?.["from"] as Partial<Provenance> | undefined;
  return typeof from?.session === "string" && typeof from.record === "number" ? { session: from.session, record: from.record } : undefined;
}

/** The member of a value's metadata that names the memory which it belongs to, and by which it goes when its session is deleted. */
export function memoryMetadata(memory: string): JsonObject {
  return { memory };
}

export function isOfMemory(metadata: JsonObject | undefined): boolean {
  return typeof metadata?.["memory"] === "string";
}

const FROM = "session";
const RELATION = "remembered";

/**
 * Notes in the scope of a session that it remembered something elsewhere. Comes before the item itself: a note without an item does no harm, an item
 * without a note would outlive its session.
 */
export async function noteRemembered(store: StateStore, session: SessionId, scope: Scope, key: string): Promise<void> {
  const link = memoryLinkKey({ from: FROM, relation: RELATION, to: digestOf(`${scopeName(scope)}\n${key}`) });
  await store.write({ type: "session", id: session }, link, { scope: scope as unknown as JsonValue, key });
}

/** Removes what a session remembered and nobody has written over since, and the scope of the session with all that is in it. */
export async function forgetRemembered(store: StateStore, session: SessionId): Promise<void> {
  const own: Scope = { type: "session", id: session };
  for (const link of await store.list(own, linksOf(FROM, RELATION))) {
    const note = (await store.read(own, link))?.value as { readonly scope: Scope; readonly key: string } | undefined;
    if (note === undefined) continue;
    const kept = await store.read(note.scope, note.key);
    if (provenanceIn(kept?.metadata)?.session === session) await store.delete(note.scope, note.key);
  }
  for (const key of await store.list(own, "")) await store.delete(own, key);
}
