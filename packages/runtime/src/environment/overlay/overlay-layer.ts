import type { Vfs } from "@keelson/protocol";
import type { SandboxPlace } from "../sandbox/sandbox-place.ts";

/** The changes of an overlay where they are kept, and the workspace as it is with them. Paths without a slash before them are below the workspace. */
export interface OverlayLayer extends AsyncDisposable {
  /** What the workspace is called by tools and commands. */
  readonly root: string;
  /** The workspace with the changes. */
  readonly files: Vfs;
  /** The absolute path that one given to `files` means, links followed as far as there is something. `asEntry`: but for the last part. */
  resolve(path: string, asEntry: boolean): Promise<string>;
  /** Names in a folder of the workspace, as they are with the changes; none where it is no folder, or was removed since it was seen. */
  list(path: string): Promise<readonly string[]>;
  /** Of these, the names that the layer holds itself: others are as they are in the base. */
  held(path: string): Promise<readonly string[]>;
  /** What changed in the base at this time or later is not what the layer began with. */
  readonly unsureSinceMs?: number;
  /**
   * Of a layer that shows the base as it was when the layer was opened, and that commands may have written to before that: all was
   * looked at, so that only what changed since is unsure.
   */
  settle?(): Promise<void>;
  /** Whether the layer, where it began with what the base was at one time, began with something at a path. */
  showed?(path: string): boolean | Promise<boolean>;
  /** A folder of it can stand over one of the base of which it shows nothing, without a word on what is hidden. */
  readonly hidesFolders?: true;
  /** Where commands run that write to it; absent where they can't. */
  readonly commands?: { readonly folder: string; readonly place: SandboxPlace };
  /**
   * Gives `use` a place on the disk for what stands at a path, where there need be nothing; commands that run can't lead it elsewhere.
   * `undefined` where no folder leads there.
   */
  reach<T>(path: string, use: (location: string) => Promise<T>): Promise<T | undefined>;
  /** Where this process reaches what stands at a path while no command runs. */
  at(path: string): Promise<string>;
}
