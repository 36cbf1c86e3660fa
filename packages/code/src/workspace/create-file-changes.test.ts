import { chmodSync, existsSync, linkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { VfsFailure } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, toolCall, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { createFileChanges } from "./create-file-changes.ts";
import type { FileChanges } from "./file-changes.ts";

let workspace: ToolWorkspace;
let changes: FileChanges;
let dropped: string[];
beforeEach(() => {
  workspace = createToolWorkspace();
  dropped = [];
  changes = createFileChanges({ files: workspace.files, texts: { drop: (path) => dropped.push(path) } });
});
afterEach(() => workspace[Symbol.dispose]());
const bytes = (text: string): Uint8Array => Buffer.from(text);
const failure = async (work: Promise<unknown>): Promise<VfsFailure> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return (error as { failure: VfsFailure }).failure;
};

describe("plain file changes", () => {
  it("write a file only if it has the expected content, and drop its text", async () => {
    await changes.write("a.txt", bytes("one"), toolCall(), { ifUnchanged: null });
    expect((await failure(changes.write("a.txt", bytes("two"), toolCall(), { ifUnchanged: null }))).kind).toBe("conflict");
    expect((await failure(changes.write("a.txt", bytes("two"), toolCall(), { ifUnchanged: bytes("zero") }))).kind).toBe("conflict");
    await changes.write("a.txt", bytes("two"), toolCall(), { ifUnchanged: bytes("one") });
    expect(workspace.text("a.txt")).toBe("two");
    expect(new Set(dropped)).toEqual(new Set(["a.txt"]));
  });

  it("delete a file only if it has the expected content", async () => {
    workspace.put("a.txt", "theirs");
    expect((await failure(changes.delete("a.txt", toolCall(), { ifUnchanged: bytes("mine") }))).kind).toBe("conflict");
    expect(workspace.text("a.txt")).toBe("theirs");
    await changes.delete("a.txt", toolCall(), { ifUnchanged: bytes("theirs") });
    expect(existsSync(join(workspace.root, "a.txt"))).toBe(false);
    expect(dropped).toEqual(["a.txt"]);
  });

  it("move a file with its mode, only to a free name and only if it has the expected content", async () => {
    workspace.put("a.sh", "#!");
    chmodSync(join(workspace.root, "a.sh"), 0o755);
    workspace.put("taken.sh", "theirs");
    expect((await failure(changes.move("a.sh", "taken.sh", toolCall(), { ifUnchanged: bytes("#!") }))).kind).toBe("conflict");
    expect((await failure(changes.move("a.sh", "b/c.sh", toolCall(), { ifUnchanged: bytes("other") }))).kind).toBe("conflict");
    await changes.move("a.sh", "b/c.sh", toolCall(), { ifUnchanged: bytes("#!") });
    expect(statSync(join(workspace.root, "b/c.sh")).mode & 0o777).toBe(0o755);
    expect(workspace.text("taken.sh")).toBe("theirs");
    expect(dropped).toEqual(["a.sh", "b/c.sh"]);
  });

  it("refuse to replace, delete or move a read-only file, with the remedy", async () => {
    workspace.put("a.txt", "one");
    chmodSync(join(workspace.root, "a.txt"), 0o444);
    for (const refused of [
      () => changes.write("a.txt", bytes("two"), toolCall(), { ifUnchanged: bytes("one") }),
      () => changes.delete("a.txt", toolCall(), { ifUnchanged: bytes("one") }),
      () => changes.move("a.txt", "b.txt", toolCall(), { ifUnchanged: bytes("one") }),
    ])
      expect(await failure(refused())).toMatchObject({ kind: "permission-denied", message: expect.stringContaining("chmod u+w") });
    expect(workspace.text("a.txt")).toBe("one");
  });

  it("refuse to replace one of several hard links, but can delete it", async () => {
    workspace.put("a.txt", "one");
    linkSync(join(workspace.root, "a.txt"), join(workspace.root, "b.txt"));
    const refused = changes.write("a.txt", bytes("two"), toolCall(), { ifUnchanged: bytes("one") });
    expect(await failure(refused)).toMatchObject({ kind: "operation-denied", message: expect.stringContaining("hard links") });
    await changes.delete("a.txt", toolCall(), { ifUnchanged: bytes("one") });
    expect(workspace.text("b.txt")).toBe("one");
  });

  it("refuse to delete or move a symbolic link or a folder", async () => {
    workspace.put("folder/a.txt", "one");
    symlinkSync("folder/a.txt", join(workspace.root, "link.txt"));
    expect((await failure(changes.delete("link.txt", toolCall(), { ifUnchanged: bytes("one") }))).kind).toBe("operation-denied");
    expect((await failure(changes.move("folder", "other", toolCall(), { ifUnchanged: bytes("") }))).kind).toBe("is-directory");
    await changes.write("link.txt", bytes("two"), toolCall(), { ifUnchanged: bytes("one") });
    expect(workspace.text("folder/a.txt")).toBe("two");
  });
});
