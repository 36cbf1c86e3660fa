import { DirectiveError, StateError, type Effect, type EffectContext, type Scope, type StateStore } from "@keelson/protocol";
import { canonicalJson } from "../../json/index.ts";
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
    "link-memory": async (link) =>
      void (await at("link-memory").write(link.scope, memoryLinkKey(link), { from: link.from, to: link.to, relation: link.relation })),
    "unlink-memory": async (link) => void (await at("unlink-memory").delete(link.scope, memoryLinkKey(link))),
  };
}

async function write(store: StateStore, { scope, key, value, options }: WriteMemory, { attempt }: EffectContext): Promise<void> {
  try {
    await store.write(scope, key, value, options);
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
