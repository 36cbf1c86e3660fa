import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { KeyRing } from "@keelson/protocol";
import { makeFolder } from "../../platform/make-folder.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { readPrivateFile, replacePrivateFile } from "../../platform/private-file.ts";
import { createSealer } from "../crypto/sealer.ts";
import { secretFailed } from "./secret-failure.ts";

/** Keeps secrets by their names. */
export interface SecretStore {
  read(name: string): Promise<string | undefined>;
  write(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface SealedFolder extends SecretStore {
  names(): Promise<readonly string[]>;
  /** Seals everything under the ring's current key, so that the one before can be dropped. */
  reseal(): Promise<void>;
}

const MAX_FILE_BYTES = 1024 * 1024;
const ENDING = ".sealed";

/**
 * A folder of sealed files, one for each secret, which several processes may use: each is written whole or not at all. A copy of the folder is
 * worth nothing without the keys; whoever has both, has the secrets.
 */
export function createSealedFolder({ folder, keys }: { readonly folder: string; readonly keys: KeyRing }): SealedFolder {
  const sealer = createSealer(keys);
  const pathOf = (name: string): string => join(folder, nodeCrypto().createHash("sha256").update(name).digest("hex") + ENDING);
  const open = async (path: string): Promise<{ readonly name: string; readonly sealed: string } | undefined> => {
    const bytes = await readPrivateFile(path, { maxBytes: MAX_FILE_BYTES, refuse: (problem) => secretFailed(path, problem) });
    if (bytes === undefined) return undefined;
    // The name on the first line, the sealed value, which is bound to it, on the second.
    const [name = "", sealed = ""] = bytes.toString("utf8").split("\n");
    return { name: decodeURIComponent(name), sealed };
  };
  const save = (name: string, sealed: string): Promise<void> =>
    replacePrivateFile(pathOf(name), `${encodeURIComponent(name)}\n${sealed}\n`);
  const files = async (): Promise<readonly string[]> => {
    const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return entries.filter((entry) => entry.endsWith(ENDING)).map((entry) => join(folder, entry));
  };
  return {
    async read(name) {
      const found = await open(pathOf(name));
      return found === undefined ? undefined : sealer.openText(found.sealed, name);
    },
    async write(name, value) {
      makeFolder(resolve(folder), 0o700);
      await save(name, await sealer.sealText(value, name));
    },
    async remove(name) {
      await rm(pathOf(name), { force: true });
    },
    async names() {
      const found = await Promise.all((await files()).map(open));
      return found.flatMap((entry) => (entry === undefined ? [] : [entry.name])).sort();
    },
    async reseal() {
      for (const path of await files()) {
        const found = await open(path);
        if (found !== undefined) await save(found.name, await sealer.resealText(found.sealed, found.name));
      }
    },
  };
}
