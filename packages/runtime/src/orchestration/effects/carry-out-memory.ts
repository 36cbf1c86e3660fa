import {
  DirectiveError,
  StateError,
  type Effect,
  type EffectContext,
  type JsonObject,
  type Scope,
  type StateStore,
} from "@keelson/protocol";
import { canonicalJson } from "../../json/index.ts";
import { memoryLinkKey } from "../../state/kit/state-link.ts";
import { isOfMemory, noteRemembered, provenanceMetadata } from "../../session/remembered-items.ts";
import { untrustedMetadata } from "../../session/untrusted-sources.ts";
import type { EffectHandlers } from "./create-effect-executor.ts";

type WriteMemory = Extract<Effect, { readonly type: "write-memory" }>;

/** Writes, deletes and links of memory, on a store. */
export function memoryHandlers(store: StateStore | undefined): EffectHandlers {
  const at = (type: string): StateStore => {
    if (store) return store;
    throw new DirectiveError({
      kind: "unsupported",
      directive: type,
      message: `"${type}" needs a StateStore: give the executor a \`store\`.`,
    });
  };
  return {
    "write-memory": async (effect, context) => void (await write(at("write-memory"), effect, context)),
    "delete-memory": async ({ scope, key }) => void (await at("delete-memory").delete(scope, key)),
    "link-memory": async (link, context) => {
      const { scope, from, to, relation } = link;
      const label = labelOf(context);
      await at("link-memory").write(scope, memoryLinkKey(link), { from, to, relation }, label && { metadata: label });
    },
    "unlink-memory": async (link) => void (await at("unlink-memory").delete(link.scope, memoryLinkKey(link))),
  };
}

/** What is written with untrusted text in context may come of it: who reads it is told. */
function labelOf({ authority }: EffectContext): JsonObject | undefined {
  const untrusted = authority?.untrusted ?? [];
  return untrusted.length === 0 ? undefined : untrustedMetadata(untrusted);
}

async function write(store: StateStore, { scope, key, value, options, meta }: WriteMemory, context: EffectContext): Promise<void> {
  const { attempt, session } = context;
  const origin = meta && isOfMemory(options?.metadata) ? provenanceMetadata({ session, record: meta.seq }) : undefined;
  const label = labelOf(context);
  if (origin !== undefined) await noteRemembered(store, session, scope, key);
  const given = origin || label ? { ...options, metadata: { ...options?.metadata, ...origin, ...label } } : options;
  try {
    await store.write(scope, key, value, given);
  } catch (error) {
    // An attempt before this one may have written: then the version has moved on by it, and nothing is wrong.
    if (attempt > 1 && options?.ifVersion !== undefined && StateError.is(error, "conflict")) {
      if (await holds(store, scope, key, { value, version: options.ifVersion + 1 })) return;
    }
    throw error;
  }
}

async function holds(
  store: StateStore,
  scope: Scope,
  key: string,
  expected: Pick<WriteMemory, "value"> & { readonly version: number },
): Promise<boolean> {
  const found = await store.read(scope, key);
  return found?.version === expected.version && canonicalJson(found.value) === canonicalJson(expected.value);
}
