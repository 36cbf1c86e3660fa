import { EnvironmentError } from "@keelson/protocol";
import { pathBelow } from "../files/virtual-path.ts";
import { allOf } from "./all-of.ts";
import { createBaseStates, statsOf } from "./base-states.ts";
import { withBase } from "./commit-journal.ts";
import { createCopiedLayer } from "./copied-layer.ts";
import { describeChange } from "./describe-change.ts";
import { createLayeredLayer } from "./layered-layer.ts";
import { loadLineMerger } from "./merge-lines.ts";
import { createMountedLayer } from "./mounted-layer.ts";
import type { CommitResult, Overlay } from "./overlay.ts";
import { type Change, collectChanges, lookAtChanges } from "./overlay-changes.ts";
import { createOverlayExecutor } from "./overlay-executor.ts";
import type { LayerKind, OverlayFolder } from "./overlay-folder.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import { planCommit } from "./plan-commit.ts";
import { createRecordingVfs, type CurrentLayer } from "./recording-vfs.ts";
import { createWorkGate } from "./work-gate.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const OVERLAY_METHODS: MethodOptions<Overlay> = {
  executor: [
    1,
    { env: true, bubblewrap: true, shell: true, maxOutputBytes: true, resolve: true, dial: true, onDecision: true, secrets: true },
    "throws",
  ],
  diff: [0, { text: true }],
  commit: [0, { resolve: true }],
};

const NO_SHELL =
  'its changes are kept beside the base, where only `files` looks for them. Open one with `shell: "overlayfs"`, or with `shell: "copy"` for a workspace that is a copy';

/** What an overlay is opened with. */
export interface OverlayParts {
  readonly id: string;
  readonly base: string;
  readonly store: string;
  readonly folder: OverlayFolder;
  readonly maxReadBytes: number;
  /** Why it could not be mounted. */
  readonly unmounted?: string;
}

/** Opens what is in the folder of an overlay, whose kind of layer is settled. */
export async function openOverlay({ id, base, store, folder, maxReadBytes, unmounted }: OverlayParts): Promise<Overlay> {
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

  const overlay: Overlay = {
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
        return allOf(found, (change) => describeChange(change, current.layer, current.states, merger));
      }),

    commit: ({ resolve: resolution = () => undefined } = {}) =>
      withoutCommands("committed", async () => {
        const result = await withBase(base, store, async (carryOut): Promise<CommitResult> => {
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
  return checkMethodOptions("overlay", overlay, OVERLAY_METHODS);
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
