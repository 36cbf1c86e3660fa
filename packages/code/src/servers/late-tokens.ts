import { type McpTokenStore, openMcpTokenStore } from "keelson/mcp";

/** The store of tokens in a folder, which is made when somebody asks for a token. */
export function lateTokens(folder: string): McpTokenStore {
  let opened: Promise<McpTokenStore> | undefined;
  const open = (): Promise<McpTokenStore> => (opened ??= openMcpTokenStore({ folder }));
  return {
    read: async (name) => (await open()).read(name),
    write: async (name, value) => (await open()).write(name, value),
    remove: async (name) => (await open()).remove(name),
    async exclusively(name, work) {
      const store = await open();
      return store.exclusively === undefined ? work() : store.exclusively(name, work);
    },
  };
}
