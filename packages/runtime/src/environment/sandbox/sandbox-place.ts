import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";
import { type MountEntry, readMountTable } from "./mount-table.ts";

/** The namespaces that sandboxes are made in: those of this process, or others in which a mount stands over a folder. */
export interface SandboxPlace {
  readonly disk: DiskView;
  /** What bubblewrap is started through. */
  readonly enter: readonly string[];
  /** Who bubblewrap has to say that the commands are, where it takes itself for another user. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** The mounts there. */
  mountTable(): Promise<readonly MountEntry[]>;
}

/** The namespaces of this process. */
export const OWN_PLACE: SandboxPlace = {
  disk: OWN_VIEW,
  enter: [],
  user: undefined,
  mountTable: () => readMountTable("self"),
};
