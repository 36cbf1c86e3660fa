import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EnvironmentError } from "@keelson/protocol";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { isDeadOwner, processOwner } from "../../platform/process-owner.ts";
import { systemCode } from "../files/vfs-error-from.ts";

/** How an overlay keeps changes: beside the base, there where the kernel looks for them, or in a whole copy of it. */
export type LayerKind = "files" | "mount" | "copy";

interface Settings {
  readonly version: 1;
  readonly base: string;
  readonly kind: LayerKind;
  /** Number of the folder with the changes. */
  readonly layer: number;
}

/** The folder of an overlay in its store, which one process at a time has open. */
export interface OverlayFolder {
  readonly path: string;
  /** `undefined` for one that is new. */
  readonly kind: LayerKind | undefined;
  /** Where the changes are. */
  readonly layer: string;
  /** Settles how changes are kept. */
  begin(kind: LayerKind): Promise<void>;
  /** From now on there is an empty folder for changes; the one before is gone, at once or not at all. */
  renew(): Promise<void>;
  release(): Promise<void>;
  /** Releases and removes it. */
  remove(): Promise<void>;
}

const SETTINGS = "overlay.json";
const LOCK = "lock";

export async function openOverlayFolder(store: string, id: string, base: string): Promise<OverlayFolder> {
  const path = join(store, id);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await lock(join(path, LOCK), path);
  try {
    let settings = await readSettings(join(path, SETTINGS));
    if (settings !== undefined && settings.base !== base)
      throw new EnvironmentError({
        kind: "other",
        message: `The overlay ${id} in ${store} is one of ${settings.base}, not of ${base}. Open it with that base, or take another id.`,
      });
    const save = async (next: Settings): Promise<void> => {
      await mkdir(join(path, `layer-${next.layer}`), { mode: 0o700, recursive: true });
      await replacePrivateFile(join(path, SETTINGS), JSON.stringify(next));
      settings = next;
    };
    const layerOf = (number: number): string => join(path, `layer-${number}`);
    // Of a process that ended while it removed it.
    if (settings !== undefined && settings.layer > 0) await rm(layerOf(settings.layer - 1), { recursive: true, force: true });
    return {
      path,
      get kind() {
        return settings?.kind;
      },
      get layer() {
        return layerOf(settings?.layer ?? 0);
      },
      begin: (kind) => save({ version: 1, base, kind, layer: 0 }),
      async renew() {
        if (settings === undefined) return;
        const { layer } = settings;
        await rm(layerOf(layer + 1), { recursive: true, force: true });
        await save({ ...settings, layer: layer + 1 });
        await rm(layerOf(layer), { recursive: true, force: true });
      },
      release: () => unlink(join(path, LOCK)),
      remove: () => rm(path, { recursive: true, force: true }),
    };
  } catch (error) {
    await unlink(join(path, LOCK));
    throw error;
  }
}

async function lock(file: string, path: string): Promise<void> {
  for (;;) {
    try {
      return await writeFile(file, processOwner(), { flag: "wx", mode: 0o600 });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    const owner = await readFile(file, "utf8").catch(() => undefined);
    if (owner === undefined) continue;
    if (!isDeadOwner(owner))
      throw new EnvironmentError({ kind: "other", message: `The overlay in ${path} is open already, by ${owner}. Close it there first.` });
    // Whoever renames it first has it; others find another one, or none.
    const stale = `${file}-${randomBytes(6).toString("hex")}`;
    await rename(file, stale).then(
      () => unlink(stale),
      (error: unknown) => {
        if (systemCode(error) !== "ENOENT") throw error;
      },
    );
  }
}

async function readSettings(file: string): Promise<Settings | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const settings = JSON.parse(text) as Settings;
  if (settings.version !== 1)
    throw new EnvironmentError({ kind: "other", message: `${file} was written by another version of this program: it says ${text}.` });
  return settings;
}
