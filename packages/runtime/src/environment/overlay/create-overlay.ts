import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readFile, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { EnvironmentError, type Executor, type Vfs } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { isWithin, pathBelow } from "../files/virtual-path.ts";
import type { SandboxExecutorOptions } from "../sandbox/sandbox-executor-options.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import { createBaseStates, statsOf } from "./base-states.ts";
import { finishCommit, withBase } from "./commit-journal.ts";
import { createCopiedLayer } from "./copied-layer.ts";
import { createLayeredLayer } from "./layered-layer.ts";
import { createMountedLayer } from "./mounted-layer.ts";
import { type LineMerger, loadLineMerger, textOf, unifiedDiff } from "./merge-lines.ts";
import { type Change, collectChanges, lookAtChanges, type WorkspaceEntry } from "./overlay-changes.ts";
import { type LayerKind, type OverlayFolder, openOverlayFolder } from "./overlay-folder.ts";
import { createOverlayExecutor } from "./overlay-executor.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import { type OverlayConflict, planCommit, type Resolution } from "./plan-commit.ts";
import { createRecordingVfs, type CurrentLayer } from "./recording-vfs.ts";
import { createWorkGate } from "./work-gate.ts";

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

/** A path that is not as it was in the base when it was first changed here. */
export interface OverlayChange {
  /** Below the workspace. */
  readonly path: string;
  readonly change: "added" | "changed" | "deleted";
  readonly type: "file" | "folder" | "link" | "other";
  /** Of text files, when asked for: as `diff -u` shows it. */
  readonly text?: string;
}

export type CommitResult =
  | {
      readonly status: "committed";
      /** Paths in the base that were changed. */
      readonly changed: readonly string[];
      /** Those of them that had changed in the base, too, and hold both changes now. */
      readonly merged: readonly string[];
    }
  /** Nothing was changed: neither the base nor the overlay. */
  | { readonly status: "conflicts"; readonly conflicts: readonly OverlayConflict[] };

export interface CommitOptions {
  /** Says for each conflict which side's content stands afterwards; where it gives `undefined`, nothing is committed. */
  readonly resolve?: ((conflict: OverlayConflict) => Resolution | Promise<Resolution>) | undefined;
}

/** A workspace of one's own over a folder that others work on, too. */
export interface Overlay extends AsyncDisposable {
  readonly id: string;
  /** The real path of the base. */
  readonly base: string;
  /** The workspace: the base with the changes made here. Its root is the base's path, and that of the copy where there is one. */
  readonly files: Vfs;
  /**
   * Runs commands in a sandbox with the workspace as its own: what they write is changed here. Where commands can't write to it they
   * are not run, and `execute` rejects with `provision-failed` and the reason.
   */
  executor(policy: SandboxPolicy, options?: Omit<SandboxExecutorOptions, "workspace">): Executor;
  /** What was changed here, in the order of paths; a folder stands before what is in it. */
  diff(options?: { readonly text?: boolean }): Promise<readonly OverlayChange[]>;
  /**
   * Makes the changes in the base, and begins anew on what that is then. What changed in the base meanwhile stays: a text file that
   * both sides changed in different lines gets both; anything else that both changed is a conflict, and nothing is committed. A commit
   * that is cut off is finished when the base is next used by an overlay. Refused while commands run.
   */
  commit(options?: CommitOptions): Promise<CommitResult>;
  /** Forgets all changes. Refused while commands run. */
  rollback(): Promise<void>;
  /** Keeps the changes in the store, for an overlay with this id; without changes nothing is left there. */
  close(): Promise<void>;
}

const KINDS = { overlayfs: "mount", copy: "copy", none: "files" } as const satisfies { readonly [shell: string]: LayerKind };
const NO_SHELL =
  'its changes are kept beside the base, where only `files` looks for them. Open one with `shell: "overlayfs"`, or with `shell: "copy"` for a workspace that is a copy';
const ID = /^[\w-][\w.-]{0,127}$/;
const DEFAULT_MAX_READ_BYTES = 64 * 1024 * 1024;

/** Opens an overlay of a folder, which one process at a time can have open. */
export async function createOverlay(options: OverlayOptions): Promise<Overlay> {
  checkOptionNames("createOverlay", options, { base: true, store: true, id: true, shell: true, maxReadBytes: true });
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
    await finishCommit(base);
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

interface Opened {
  readonly id: string;
  readonly base: string;
  readonly store: string;
  readonly folder: OverlayFolder;
  readonly maxReadBytes: number;
  /** Why it could not be mounted. */
  readonly unmounted?: string;
}

async function openOverlay({ id, base, store, folder, maxReadBytes, unmounted }: Opened): Promise<Overlay> {
  const gate = createWorkGate();
  let isClosed = false;
  let running = 0;
  /** Commands changed what was not looked at yet. */
  let isUnseen = false;
  let lost: unknown;
  let current = await openLayer();

  async function openLayer(): Promise<CurrentLayer> {
    const layer = await createLayer(folder.kind ?? "files", base, folder.layer, maxReadBytes);
    const states = createBaseStates(base, folder.layer);
    try {
      if (layer.settle !== undefined) {
        // Of a process that was killed before it had looked.
        await lookAtChanges(base, layer, states);
        await layer.settle();
      }
    } catch (error) {
      await layer[Symbol.asyncDispose]();
      throw error;
    }
    return { layer, states };
  }
  async function reopenLayer(make?: () => Promise<void>): Promise<void> {
    const workingDirectory = await current.layer.files.pwd();
    try {
      await current.layer[Symbol.asyncDispose]();
      await make?.();
      current = await openLayer();
    } catch (error) {
      lost = error;
      throw error;
    }
    // It may have gone with the changes.
    await current.layer.files.cd(workingDirectory).catch(() => {});
  }
  const look = async (): Promise<void> => {
    await lookAtChanges(base, current.layer, current.states);
    if (running <= 1) isUnseen = false;
  };
  /** The kernel remembers what the base was when it was mounted: where it must be seen as it is, it is mounted anew. */
  async function remount(): Promise<void> {
    if (current.layer.settle === undefined || running > 0) return;
    if (isUnseen) await look();
    await reopenLayer();
  }
  async function freshen(path: string): Promise<void> {
    const { layer, states } = current;
    if (layer.settle === undefined || running > 0 || isClosed) return;
    const real = await layer.resolve(path, true).catch(() => undefined);
    if (real === undefined || real === base || states.get(pathBelow(base, real)) !== undefined) return;
    const stats = await statsOf(real);
    if (stats !== undefined && stats.ctimeMs >= (layer.unsureSinceMs ?? 0)) await alone(remount);
  }
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    gate.alone(async () => {
      requireOpen();
      return work();
    });
  function requireOpen(): void {
    if (isClosed)
      throw new EnvironmentError({ kind: "other", message: `The overlay ${id} of ${base} is closed. Open it again with its id.` });
    if (lost !== undefined)
      throw new EnvironmentError(
        { kind: "other", message: `The overlay ${id} of ${base} could not be mounted again. Close it, and open it again with its id.` },
        { cause: lost },
      );
  }
  /** For what has to be as it is until it is done. */
  const withoutCommands = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    alone(async () => {
      if (running > 0)
        throw new EnvironmentError({
          kind: "other",
          message: `The overlay ${id} can't be ${what} while commands run in it (${running}). End them first.`,
        });
      return work();
    });
  async function during<T>(work: () => Promise<T>): Promise<T> {
    await alone(async () => {
      await remount();
      running++;
      isUnseen = true;
    });
    try {
      return await work();
    } finally {
      try {
        if (current.layer.settle !== undefined) await gate.share(look);
      } finally {
        running--;
      }
    }
  }
  async function changes(): Promise<Change[]> {
    await look();
    return collectChanges(current.layer, current.states);
  }
  /** Begins on the base as it is now. */
  const renew = (): Promise<void> => reopenLayer(() => folder.renew());
  async function close(): Promise<void> {
    await gate.alone(async () => {
      if (isClosed) return;
      isClosed = true;
      if (isUnseen && lost === undefined) await look();
      await current.layer[Symbol.asyncDispose]();
      if (current.states.isEmpty) await folder.remove();
      else await folder.release();
    });
  }

  return {
    id,
    base,
    files: createRecordingVfs(
      () => {
        requireOpen();
        return current;
      },
      gate,
      freshen,
    ),

    executor: (policy, executorOptions = {}) =>
      createOverlayExecutor(
        { base, store, now: () => current.layer.commands ?? { refused: unmounted ?? NO_SHELL }, during },
        policy,
        executorOptions,
      ),

    diff: ({ text = false } = {}) =>
      alone(async () => {
        const found = await changes();
        const merger = text && found.length > 0 ? await loadLineMerger() : undefined;
        return Promise.all(found.map((change) => describeChange(change, current, merger)));
      }),

    commit: ({ resolve: resolution = () => undefined } = {}) =>
      withoutCommands("committed", async () => {
        const result = await withBase(base, async (carryOut): Promise<CommitResult> => {
          const plan = await planCommit(base, current.states, await changes(), loadLineMerger, resolution);
          if (plan.conflicts.length > 0) return { status: "conflicts", conflicts: plan.conflicts };
          await carryOut(plan.changes);
          return { status: "committed", changed: plan.changes.map(({ path }) => path), merged: plan.merged };
        });
        if (result.status === "committed") await renew();
        return result;
      }),

    rollback: () => withoutCommands("rolled back", renew),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function createLayer(kind: LayerKind, base: string, folder: string, maxReadBytes: number): Promise<OverlayLayer> {
  switch (kind) {
    case "files":
      return createLayeredLayer(base, folder, maxReadBytes);
    case "mount":
      return createMountedLayer(base, folder, maxReadBytes);
    case "copy":
      return createCopiedLayer(base, folder, maxReadBytes);
  }
}

async function describeChange(
  { path, before, now }: Change,
  { states }: CurrentLayer,
  merger: LineMerger | undefined,
): Promise<OverlayChange> {
  const change = before.type === "absent" ? "added" : now.type === "absent" ? "deleted" : "changed";
  const type = now.type !== "absent" ? now.type : before.type === "absent" || before.type === "unknown" ? "other" : before.type;
  if (merger === undefined) return { path, change, type };
  const old = before.type === "file" ? await states.originalOf(before).then((bytes) => bytes && textOf(bytes)) : undefined;
  const changed = await textAt(now);
  const isShown =
    (now.type === "file" ? changed !== undefined : now.type === "absent") &&
    (before.type === "file" ? old !== undefined : before.type === "absent");
  return isShown ? { path, change, type, text: unifiedDiff(merger, path, old, changed) } : { path, change, type };
}

async function textAt(entry: WorkspaceEntry): Promise<string | undefined> {
  return entry.type === "file" && entry.size <= DEFAULT_MAX_READ_BYTES ? textOf(await readFile(entry.location)) : undefined;
}

async function realFolder(path: string): Promise<string> {
  const real = await realpath(resolve(path)).catch((error: unknown) => {
    throw new EnvironmentError({ kind: "other", message: `There is no folder ${path}.` }, { cause: error });
  });
  if (!statSync(real).isDirectory()) throw new EnvironmentError({ kind: "other", message: `${path} is no folder.` });
  return real;
}
