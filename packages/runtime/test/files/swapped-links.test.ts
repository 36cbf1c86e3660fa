import { createCompositeVfs, createDiskVfs, createMemoryVfs } from "keelson/environment";
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
