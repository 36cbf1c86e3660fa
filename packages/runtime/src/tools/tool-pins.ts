import type { Scope, StateStore, ToolPins } from "@keelson/protocol";

const SCOPE: Scope = { type: "custom", namespace: "keelson", id: "tool-pins" };

/**
 * Which versions of tools people allowed, in a state store.
 * @param scope of their own. Default: one for all that use the store
 */
export function createToolPins(store: Pick<StateStore, "read" | "write">, scope: Scope = SCOPE): ToolPins {
  return {
    async read(tool) {
      const stored = await store.read(scope, tool);
      return typeof stored?.value === "string" ? stored.value : undefined;
    },
    async write(tool, version) {
      await store.write(scope, tool, version);
    },
  };
}
