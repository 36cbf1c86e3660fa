// Files behind one interface: a folder that no path leaves, kinds that are mounted as one, and what a search refuses. All of it is checked.
import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VfsError } from "@keelson/protocol";

const folder = await mkdtemp(join(tmpdir(), "keelson-example-"));
await writeFile(join(folder, "notes.md"), "# Notes\nTODO: buy rope\n");
await symlink("/etc", join(folder, "out"));

// #region smallest
import { createDiskVfs } from "keelson/environment";

const files = createDiskVfs({ root: folder });
await files.edit("notes.md", "rope", "a longer rope");
for (const { file, lineNumber, lineContent } of await files.grep("TODO", { lineNumbers: true, gitignore: true }))
  console.log(`${file}:${lineNumber} ${lineContent}`); // …/notes.md:2 TODO: buy a longer rope
// #endregion

assert.equal((await files.grep("longer rope")).length, 1);

// #region refused
for (const path of ["../elsewhere", "/etc/hostname", "out/hostname"]) {
  const failure = await files.read(path).catch((error: unknown) => VfsError.is(error, "path-traversal") && error.failure);
  console.log(failure); // { kind: "path-traversal", attempted: "../elsewhere", root: …, message: … }
}
// #endregion

for (const path of ["../elsewhere", "/etc/hostname", "out/hostname"])
  await assert.rejects(files.read(path), (error) => VfsError.is(error, "path-traversal"));

// #region mounted
import { createCompositeVfs, createMemoryVfs } from "keelson/environment";

const workspace = createCompositeVfs({
  mounts: [
    { prefix: "/project", backend: createDiskVfs({ root: folder, readOnly: true }) },
    { prefix: "/scratch", backend: createMemoryVfs({ maxBytes: 10_000_000 }) },
  ],
});
await workspace.cp("/project/notes.md", "/scratch/draft.md");
await workspace.edit("/scratch/draft.md", "# Notes", "# Draft");
console.log([...workspace.capabilitiesAt("/project")]); // what a mount can: ls, read, grep, glob, pwd, cd
// #endregion

assert.equal((await workspace.grep("Draft", { path: "/scratch" })).length, 1);
await assert.rejects(workspace.write("/project/notes.md", ""), (error) => VfsError.is(error, "unsupported"));

// #region transfers
import { createTransferVfs } from "keelson/environment";

const scratch = createTransferVfs({ files: createMemoryVfs(), machine: createDiskVfs({ root: folder }) });
await scratch.upload("notes.md", "/inbox/notes.md"); // from the machine
await scratch.download("/inbox/notes.md", "copies/notes.md"); // back to it
// #endregion

assert.equal((await files.read("copies/notes.md")).content.length, (await files.read("notes.md")).content.length);
await assert.rejects(scratch.upload("/etc/hostname", "/inbox/name"), (error) => VfsError.is(error, "path-traversal"));

// #region patterns
const unknown = await files.grep("(?<=TODO: )buy").catch((error: unknown) => (VfsError.is(error, "unsupported") ? error.message : ""));
console.log(unknown); // The search pattern … is not searched for: ripgrep has no lookaround. …
await files.grep("(a+)+$"); // no pattern hangs a search, whatever the text
// #endregion

assert.match(String(unknown), /ripgrep has no lookaround/);
await rm(folder, { recursive: true });
console.log("files: ok");
