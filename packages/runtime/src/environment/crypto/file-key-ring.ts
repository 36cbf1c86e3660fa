import { EnvironmentError, type KeyRing, type NamedKey } from "@keelson/protocol";
import { takeLock } from "../../platform/lock-file.ts";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { type Keys, newKey } from "./keys.ts";
import { loadKeys, textOf } from "./load-keys.ts";

export interface FileKeyRing extends KeyRing {
  /** Makes another key the current one; the one before is kept. Every process that has the file reads what it seals. @returns the new key's id */
  rotate(): Promise<string>;
  /** Forgets a key. What it sealed can't be opened any more: reseal that first. */
  drop(id: string): Promise<void>;
}

/**
 * The keys of a file that its owner alone may read; the first process that comes makes it. A key that another process added since is found.
 * Keep a copy of the file: what was sealed with lost keys is lost.
 */
export async function openKeyRing(path: string): Promise<FileKeyRing> {
  let keys = await loadKeys(path);
  const known = (id: string): NamedKey | undefined => [keys.current, ...(keys.previous ?? [])].find((key) => key.id === id);
  const change = async (change: (keys: Keys) => Keys): Promise<void> => {
    keys = await changeKeys(path, change);
  };
  return {
    current: async () => keys.current,
    async find(id) {
      const key = known(id);
      if (key !== undefined) return key;
      keys = await loadKeys(path);
      return known(id);
    },
    async rotate() {
      await change(({ current, previous = [] }) => ({ current: newKey(), previous: [current, ...previous] }));
      return keys.current.id;
    },
    async drop(id) {
      await change(({ current, previous = [] }) => {
        if (id === current.id)
          throw new EnvironmentError({
            kind: "other",
            message: `The key "${id}" is the current one of ${path}: rotate before you drop it.`,
          });
        return { current, previous: previous.filter((key) => key.id !== id) };
      });
    },
  };
}

/** One process at a time: of two that write at once, the one would lose the other's key, and with it what that sealed. */
async function changeKeys(path: string, change: (keys: Keys) => Keys): Promise<Keys> {
  await using lock = await takeLock(`${path}.lock`);
  if (lock === undefined)
    throw new EnvironmentError({
      kind: "other",
      message: `The keys at ${path} are being changed by another process. Try again; if none is at work on any machine, delete ${path}.lock.`,
    });
  const changed = change(await loadKeys(path));
  await replacePrivateFile(path, textOf(changed));
  return changed;
}
