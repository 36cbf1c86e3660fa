import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { describeVfs } from "../../testing/vfs-contract.ts";
import type { VfsContent } from "../../testing/vfs-contract/create-vfs.ts";
import { createDiskVfs } from "./disk-vfs.ts";

function folderWith(content: VfsContent): string {
  const root = mkdtempSync(join(tmpdir(), "keelson-contract-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

describeVfs("a folder of the disk", {
  capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv"],
  create: (content) => createDiskVfs({ root: folderWith(content) }),
});

describeVfs("a folder of the disk that may only be read", {
  capabilities: ["ls", "read", "grep", "glob", "pwd", "cd"],
  create: (content) => createDiskVfs({ root: folderWith(content), readOnly: true }),
});
