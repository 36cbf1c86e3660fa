import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { expect, it, onTestFinished } from "vitest";
import { findSearchProblem } from "./find-search-problem.ts";

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "keelson-search-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it("finds none if ripgrep answers", async () => {
  expect(await findSearchProblem(folder())).toBeUndefined();
});

it("says why ripgrep cannot be used, and what to do", async () => {
  const root = folder();
  expect(await findSearchProblem(root, () => Promise.reject(new Error("not installed")))).toMatch(
    /slow|longer.*not installed.*npm install @vscode\/ripgrep/,
  );
  expect(await findSearchProblem(root, () => Promise.resolve({ rgPath: "/bin/false" }))).toMatch(/does not run here.*npm install --force/);
  expect(await findSearchProblem(root, () => Promise.resolve({ rgPath: join(root, "none") }))).toMatch(/there is no program/);
});

it.runIf(process.platform === "linux")("says that a program in the folder needs bubblewrap", async () => {
  const root = folder();
  mkdirSync(join(root, "bin"));
  copyFileSync(rgPath, join(root, "bin/rg"));
  const path = process.env["PATH"];
  process.env["PATH"] = "";
  onTestFinished(() => {
    process.env["PATH"] = path;
  });
  expect(await findSearchProblem(root, () => Promise.resolve({ rgPath: join(root, "bin/rg") }))).toMatch(/Install bubblewrap/);
});
