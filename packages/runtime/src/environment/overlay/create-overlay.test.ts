import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { describeVfs } from "../../testing/vfs-contract.ts";
import type { VfsContent } from "../../testing/vfs-contract/create-vfs.ts";
import { createOverlay } from "./create-overlay.ts";

function folderWith(content: VfsContent): string {
  const root = mkdtempSync(join(tmpdir(), "keelson-overlay-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const base = join(root, "base");
  mkdirSync(base);
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  return root;
}

for (const shell of ["overlayfs", "copy", "none"] as const)
  describeVfs(`an overlay with shell "${shell}"`, {
    capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv"],
    create: async (content) => {
      const root = folderWith(content);
      const overlay = await createOverlay({ base: join(root, "base"), store: join(root, "store"), shell });
      onTestFinished(() => overlay.close());
      return overlay.files;
    },
  });
