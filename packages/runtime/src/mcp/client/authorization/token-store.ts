import type { SecretStore } from "../../../environment/secrets/sealed-folder.ts";

/** Keeps tokens of servers, and how clients are registered with authorization servers, by names. Values are secrets. */
export interface McpTokenStore extends SecretStore {
  /** Does the work while no other process does such for this name: of two that use one refresh token at once, a server may lock out both. */
  exclusively?<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Keeps them as long as this process lives. */
export function createMemoryTokenStore(): McpTokenStore {
  const kept = new Map<string, string>();
  return {
    read: async (name) => kept.get(name),
    write: async (name, value) => void kept.set(name, value),
    remove: async (name) => void kept.delete(name),
  };
}
