import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { EnvironmentError } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { isWithin } from "../files/virtual-path.ts";
import { finishCommit } from "./commit-journal.ts";
import { openOverlay } from "./open-overlay.ts";
import type { Overlay } from "./overlay.ts";
import { type LayerKind, openOverlayFolder } from "./overlay-folder.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface OverlayOptions {
  /** The folder that is worked on. Nothing in it changes before a commit. */
  readonly base: string;
  /** The folder where changes are kept; outside of the base. */
  readonly store: string;
  /** Of an overlay that was left open, as by a process that was killed; or of a new one. Default: a new one of its own. */
  readonly id?: string | undefined;
  /**
   * How commands may write to the workspace. `overlayfs`: they run where the kernel mounts it over the base, which takes Linux and
   * bubblewrap. `copy`: it is a whole copy of the base, which takes the time and the space of one. `none`: they may not, and are
   * refused. An overlay that is opened again stays as it was. Default: `overlayfs` where that can be, else `none`, with the reason told
   * to whoever runs a command.
   */
  readonly shell?: "overlayfs" | "copy" | "none" | undefined;
  /** Bytes of the largest file that is read whole. Default 64 MiB. */
  readonly maxReadBytes?: number | undefined;
}

const KINDS = { overlayfs: "mount", copy: "copy", none: "files" } as const satisfies { readonly [shell: string]: LayerKind };
const ID = /^[\w-][\w.-]{0,127}$/;
const DEFAULT_MAX_READ_BYTES = 64 * 1024 * 1024;

/** Opens an overlay of a folder, which one process at a time can have open. */
export async function createOverlay(options: OverlayOptions): Promise<Overlay> {
  checkOptionNames("createOverlay", options, { base: true, store: true, id: true, shell: true, maxReadBytes: BOUND_OPTION });
  const { id = randomUUID(), shell, maxReadBytes = DEFAULT_MAX_READ_BYTES } = options;
  if (!ID.test(id))
    throw new EnvironmentError({ kind: "other", message: `"${id}" is no id of an overlay: use letters, digits, ".", "_" and "-".` });
  if (shell !== undefined && !Object.hasOwn(KINDS, shell))
    throw new EnvironmentError({ kind: "other", message: `shell is "${String(shell)}": use "overlayfs", "copy" or "none".` });
  const base = await realFolder(options.base);
  await mkdir(resolve(options.store), { recursive: true, mode: 0o700 });
  const store = await realFolder(options.store);
  if (isWithin(base, store) || isWithin(store, base))
    throw new EnvironmentError({
      kind: "other",
      message: `The store of an overlay has to lie outside of its base, and ${store} and ${base} lie in each other.`,
    });

  const folder = await openOverlayFolder(store, id, base);
  const isNew = folder.kind === undefined;
  try {
    await finishCommit(base, store);
    const opened = { id, base, store, folder, maxReadBytes };
    if (!isNew) return await openOverlay(opened);
    await folder.begin(KINDS[shell ?? "overlayfs"]);
    try {
      return await openOverlay(opened);
    } catch (error) {
      if (shell !== undefined || !EnvironmentError.is(error, "provision-failed")) throw error;
      await folder.begin("files");
      return await openOverlay({ ...opened, unmounted: error.message.replace(/\.$/, "") });
    }
  } catch (error) {
    await (isNew ? folder.remove() : folder.release());
    throw error;
  }
}

async function realFolder(path: string): Promise<string> {
  const real = await realpath(resolve(path)).catch((error: unknown) => {
    throw new EnvironmentError({ kind: "other", message: `There is no folder ${path}.` }, { cause: error });
  });
  if (!statSync(real).isDirectory()) throw new EnvironmentError({ kind: "other", message: `${path} is no folder.` });
  return real;
}
