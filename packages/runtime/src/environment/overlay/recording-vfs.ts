import { type Vfs, VfsError } from "@keelson/protocol";
import { readPartOf } from "../files/read-part-of.ts";
import { realPathIn } from "../files/real-path-in.ts";
import { pathBelow } from "../files/virtual-path.ts";
import type { BaseStates } from "./base-states.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import type { WorkGate } from "./work-gate.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";

/** The layer as it is now, which a commit or rollback replaces by another. */
export interface CurrentLayer {
  readonly layer: OverlayLayer;
  readonly states: BaseStates;
}

/**
 * The files of the current layer. Before something is changed, it is noted what the base has there.
 * @param gate shared by all who use the layer, so that it is not replaced meanwhile
 * @param freshen sees to it that the layer shows what the base has at a path by now
 */
export function createRecordingVfs(current: () => CurrentLayer, gate: WorkGate, freshen: (path: string) => Promise<void>): Vfs {
  const look = async (path: string, asEntry: boolean, how: "with-content" | "with-all-below"): Promise<void> => {
    const { layer, states } = current();
    const real = await layer.resolve(path, asEntry).catch((error: unknown) => {
      // It leads nowhere: what was called says so, and changes nothing.
      if (VfsError.is(error)) return undefined;
      throw error;
    });
    if (real !== undefined) await states.look(pathBelow(layer.root, real), how, layer.unsureSinceMs);
  };
  const files = (): Vfs => current().layer.files;
  const recording: Vfs = {
    get root() {
      return current().layer.root;
    },
    get capabilities() {
      return files().capabilities;
    },
    async realPath(path) {
      await freshen(path);
      return gate.share(() => realPathIn(files(), path));
    },
    ls: async (...given) => gate.share(() => files().ls(...given)),
    async stat(path, options) {
      await freshen(path);
      return gate.share(() => files().stat(path, options));
    },
    async read(path, options) {
      await freshen(path);
      return gate.share(() => files().read(path, options));
    },
    async readPart(path, part) {
      await freshen(path);
      return gate.share(() => readPartOf(files(), path, part));
    },
    grep: async (...given) => gate.share(() => files().grep(...given)),
    glob: async (...given) => gate.share(() => files().glob(...given)),
    upload: (...given) => files().upload(...given),
    download: (...given) => files().download(...given),
    pwd: () => files().pwd(),
    cd: async (path) => gate.share(() => files().cd(path)),
    async write(path, content, options) {
      options?.signal?.throwIfAborted();
      await freshen(path);
      return gate.share(async () => {
        await look(path, false, "with-content");
        return files().write(path, content, options);
      });
    },
    async edit(path, oldText, newText, options) {
      options?.signal?.throwIfAborted();
      await freshen(path);
      return gate.share(async () => {
        await look(path, false, "with-content");
        return files().edit(path, oldText, newText, options);
      });
    },
    async rm(path, options) {
      options?.signal?.throwIfAborted();
      await freshen(path);
      return gate.share(async () => {
        await look(path, true, "with-all-below");
        return files().rm(path, options);
      });
    },
    async cp(from, to, options) {
      options?.signal?.throwIfAborted();
      for (const path of [from, to]) await freshen(path);
      return gate.share(async () => {
        await look(to, false, "with-content");
        return files().cp(from, to, options);
      });
    },
    async mv(from, to, options) {
      options?.signal?.throwIfAborted();
      for (const path of [from, to]) await freshen(path);
      return gate.share(async () => {
        await look(from, true, "with-all-below");
        await look(to, true, "with-content");
        return files().mv(from, to, options);
      });
    },
  };
  return checkMethodOptions("files", recording, VFS_METHODS);
}
