// Searches with ripgrep, runs a command in a sandbox and one on a terminal, and merges texts.
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDiskVfs, createOverlay, createProcessExecutor, createSandboxExecutor, readCommandLine } from "keelson/environment";

const folder = await mkdtemp(join(tmpdir(), "keelson-machine-"));
const workspace = join(folder, "work");
await mkdir(workspace);
await writeFile(join(workspace, "list.txt"), "apples\nfigs\nplums\n");

const { commands } = await readCommandLine("cat 'list.txt' | sort");
deepEqual(
  commands?.map(({ text }) => text),
  ["cat list.txt", "sort"],
);

const found = await createDiskVfs({ root: workspace }).grep("^f.gs$");
deepEqual(
  found.map(({ lineContent }) => lineContent),
  ["figs"],
);

const sandboxed = await createSandboxExecutor({}, { workspace }).execute({ command: "sort -r list.txt; touch /etc/keelson-was-here" });
match(sandboxed.stdout, /^plums\nfigs\napples\n/);
match(sandboxed.stderr, /touch/);

const onTerminal = await createProcessExecutor({ cwd: workspace }).execute({
  command: "stty size; test -t 1 && echo terminal",
  pty: { columns: 100, rows: 30 },
  env: { TERM: "xterm" },
});
match(onTerminal.stdout, /30 100\r\nterminal/);

const overlay = await createOverlay({ base: workspace, store: join(folder, "store"), shell: "none" });
await overlay.files.write("list.txt", "apples\nfigs\npears\n");
await writeFile(join(workspace, "list.txt"), "limes\nfigs\nplums\n");
const committed = await overlay.commit();
equal(committed.status, "committed");
equal(await readFile(join(workspace, "list.txt"), "utf8"), "limes\nfigs\npears\n");
await overlay.close();
await rm(folder, { recursive: true });
