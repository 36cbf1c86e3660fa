import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { programPath } from "../sandbox/find-bubblewrap.ts";
import { ripgrepFiles, type RipgrepSearch } from "./ripgrep-files.ts";

const canRun = process.platform !== "linux" || (await programPath("bwrap")) !== undefined;
let base: string;
let search: RipgrepSearch;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-ripgrep-")));
  onTestFinished(() => fs.rmSync(base, { recursive: true, force: true }));
  for (const folder of ["root/place", "outside"]) fs.mkdirSync(join(base, folder), { recursive: true });
  fs.writeFileSync(join(base, "root/place/file.txt"), "wanted");
  fs.writeFileSync(join(base, "outside/secret.txt"), "wanted");
  search = {
    program: rgPath,
    root: join(base, "root"),
    folder: join(base, "root/place"),
    pattern: "wanted",
    options: {},
    leftOut: [],
    maxFileBytes: 1000,
    signal: undefined,
  };
});

describe("what ripgrep is asked", { skip: !canRun }, () => {
  it("is answered with files of the folder", async () => {
    expect(await ripgrepFiles(search)).toEqual([join(base, "root/place/file.txt")]);
    expect(await ripgrepFiles({ ...search, pattern: "nothing" })).toEqual([]);
  });

  it("never concerns what lies outside of the root, also when the folder became a link", async ({ skip }) => {
    if (process.platform !== "linux") skip("elsewhere it runs without a sandbox");
    fs.renameSync(join(base, "root/place"), join(base, "root/moved"));
    fs.symlinkSync(join(base, "outside"), join(base, "root/place"));
    expect(await ripgrepFiles(search)).toBeUndefined();
  });

  it("never starts a bubblewrap of the root, to which PATH leads first", async ({ skip }) => {
    if (process.platform !== "linux") skip("elsewhere it runs without a sandbox");
    const ran = join(base, "outside/ran");
    fs.writeFileSync(join(base, "root/bwrap"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${join(base, "root")}:${path}`;
    try {
      expect(await ripgrepFiles(search)).toEqual([join(base, "root/place/file.txt")]);
      expect(fs.existsSync(ran)).toBe(false);
    } finally {
      process.env["PATH"] = path;
    }
  });

  it("has no answer when it is not there, fails, or does not say all", async () => {
    expect(await ripgrepFiles({ ...search, program: "/nowhere/rg" })).toBeUndefined();
    expect(await ripgrepFiles({ ...search, program: "/bin/false" })).toBeUndefined();
    expect(await ripgrepFiles({ ...search, folder: join(base, "root/none") })).toBeUndefined();
  });
});
