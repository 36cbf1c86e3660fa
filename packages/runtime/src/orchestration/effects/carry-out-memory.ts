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
import { untrustedMetadata } from "../../session/untrusted-sources.ts";
import type { EffectHandlers } from "./create-effect-executor.ts";

type WriteMemory = Extract<Effect, { readonly type: "write-memory" }>;

/** A relation between two keys, as a store keeps it: readers find the links of a key by `list(scope, "links/<from>/")`. */
export function memoryLinkKey({ from, to, relation }: { readonly from: string; readonly to: string; readonly relation: string }): string {
  return `links/${[from, relation, to].map(encodeURIComponent).join("/")}`;
}

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

async function write(store: StateStore, { scope, key, value, options }: WriteMemory, context: EffectContext): Promise<void> {
  const { attempt } = context;
  const label = labelOf(context);
  try {
    await store.write(scope, key, value, label === undefined ? options : { ...options, metadata: { ...options?.metadata, ...label } });
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
