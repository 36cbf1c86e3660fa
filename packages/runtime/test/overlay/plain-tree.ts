import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export type TreeContent = { readonly [path: string]: string };

/** A folder of its own for a test: not in `/tmp`, which is another one in a sandbox. */
export function testFolder(): string {
  const folder = realpathSync(mkdtempSync(join(process.env["KEELSON_PROBE_FOLDER"] ?? homedir(), ".keelson-overlay-")));
  onTestFinished(() => {
    // What a killed process left may not be removable as it is.
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export function makeTree(folder: string, content: TreeContent): string {
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export function copyTree(from: string, to: string): string {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, mode: 0 });
  chmodSync(to, lstatSync(from).mode);
  return to;
}

/** Everything in a folder: mode and content of files, modes of folders, targets of links. */
export function treeAt(folder: string): { readonly [path: string]: string } {
  const found: { [path: string]: string } = {};
  const visit = (path: string): void => {
    for (const name of readdirSync(join(folder, path)).sort()) {
      const inner = path === "" ? name : `${path}/${name}`;
      const stats = lstatSync(join(folder, inner));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        found[inner] = `folder ${mode}`;
        visit(inner);
      } else if (stats.isSymbolicLink()) found[inner] = `link ${readlinkSync(join(folder, inner))}`;
      else found[inner] = `file ${mode} ${readFileSync(join(folder, inner), "utf8")}`;
    }
  };
  visit("");
  return found;
}
