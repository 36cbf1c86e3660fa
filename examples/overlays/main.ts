// Two agents' workspaces over one folder: what each does, by files and by commands, is seen in the folder when it is committed.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { EnvironmentError } from "@keelson/protocol";

const folder = await mkdtemp(join(homedir(), ".keelson-example-"));
const [base, store] = [join(folder, "project"), join(folder, "overlays")];
await mkdir(base);
await writeFile(join(base, "list.txt"), "apples\nbread\ncheese\n");

// #region smallest
import { createOverlay } from "keelson/environment";

const overlay = await createOverlay({ base, store, id: "shopping" });
await overlay.files.edit("list.txt", "apples", "pears");
for (const { change, path } of await overlay.diff()) console.log(change, path); // changed list.txt
// #endregion

assert.equal(await readFile(join(base, "list.txt"), "utf8"), "apples\nbread\ncheese\n");

// #region commands
const executor = overlay.executor({ filesystem: { deniedPaths: [".env"] } });
const result = executor.execute({ command: "sort -r list.txt > sorted.txt; cat sorted.txt" });
// #endregion

try {
  assert.equal((await result).stdout, "pears\ncheese\nbread\n");
} catch (error) {
  if (!EnvironmentError.is(error, "provision-failed")) throw error;
  console.log(error.message); // why commands can't write to it here
}
await writeFile(join(base, "list.txt"), "apples\nbread\ncheese and butter\n");

// #region commit
const committed = await overlay.commit();
if (committed.status === "conflicts") for (const { path, reason } of committed.conflicts) console.log(`${path}: ${reason}`);
await overlay.close();
// #endregion

assert.equal(committed.status, "committed");
assert.equal(await readFile(join(base, "list.txt"), "utf8"), "pears\nbread\ncheese and butter\n");
await rm(folder, { recursive: true });
console.log("overlays: committed what was changed on both sides");
