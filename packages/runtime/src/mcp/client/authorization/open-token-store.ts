import { join } from "node:path";
import { checkOptionNames } from "../../../json/option-names.ts";
import { type Clock, systemClock } from "../../../platform/clock.ts";
import type { McpTokenStore } from "./token-store.ts";

export interface TokenStoreOptions {
  /** For this alone. Made where it isn't there. */
  readonly folder: string;
  /** Loads the package of the system's keyring; tests give their own. */
  readonly importModule?: ((specifier: string) => Promise<unknown>) | undefined;
  readonly clock?: Clock | undefined;
}

const LOCK_TRIES = 300;
const LOCK_PAUSE_MS = 100;

/**
 * Keeps tokens of servers from one process to the next: in the keyring of the system, and where there is none, in the folder, sealed with keys that lie
 * beside. Its files are readable for their owner alone.
 */
export async function openMcpTokenStore(options: TokenStoreOptions): Promise<McpTokenStore> {
  checkOptionNames("openMcpTokenStore", options, { folder: true, importModule: true, clock: true });
  const { folder, importModule, clock = systemClock } = options;
  const [{ createKeyringSecrets }, { createSealedFolder }, { openKeyRing }, { makeFolder }, { nodeCrypto }] = await Promise.all([
    import("../../../environment/secrets/keyring-secrets.ts"),
    import("../../../environment/secrets/sealed-folder.ts"),
    import("../../../environment/crypto/file-key-ring.ts"),
    import("../../../platform/make-folder.ts"),
    import("../../../platform/node-crypto.ts"),
  ]);
  makeFolder(folder, 0o700);
  const sealed = createSealedFolder({ folder, keys: await openKeyRing(join(folder, "keys.json")) });
  const keyring = createKeyringSecrets({ fallback: sealed, ...(importModule && { importModule }) });
  const nameIn = (name: string): string => `keelson-mcp/${name}`;
  return {
    read: async (name) =>
      (await keyring.read(nameIn(name), { signal: new AbortController().signal, maxBytes: Number.POSITIVE_INFINITY }))?.value,
    write: async (name, value) => void (await keyring.write(nameIn(name), value)),
    remove: (name) => keyring.remove(nameIn(name)),
    async exclusively(name, work) {
      const { takeLock } = await import("../../../platform/lock-file.ts");
      const path = join(folder, `${nodeCrypto().createHash("sha256").update(name).digest("hex")}.lock`);
      for (let tries = 1; ; tries++) {
        await using lock = await takeLock(path);
        // Whoever has it for so long hangs: two at once are less bad than none.
        if (lock !== undefined || tries === LOCK_TRIES) return await work();
        await new Promise<void>((resolve) => void clock.after(LOCK_PAUSE_MS, resolve));
      }
    },
  };
}
