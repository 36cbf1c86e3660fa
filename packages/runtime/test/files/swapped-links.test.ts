import { dirname, join } from "node:path";
import { createCompositeVfs, createDiskVfs, createMemoryVfs, createOverlay, type Overlay } from "keelson/environment";
import { describeSwappedLinks } from "./describe-swapped-links.ts";

describeSwappedLinks("a folder of the disk", { open: (root) => createDiskVfs({ root }) });
describeSwappedLinks("a folder of the disk, searched in plain code", { open: (root) => createDiskVfs({ root, ripgrep: false }) });
describeSwappedLinks("a folder of the disk that is mounted", {
  at: "/disk",
  open: (root) =>
    createCompositeVfs({
      mounts: [
        { prefix: "/disk", backend: createDiskVfs({ root }) },
        { prefix: "/memory", backend: createMemoryVfs() },
      ],
    }),
});

let overlay: Overlay | undefined;
describeSwappedLinks("an overlay of a folder", {
  async open(root) {
    overlay = await createOverlay({ base: root, store: join(dirname(root), "overlays") });
    return overlay.files;
  },
  renew: async () => overlay?.rollback(),
});
