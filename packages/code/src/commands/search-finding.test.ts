import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { searchFinding } from "./search-finding.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-doctor-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "made"));
  for (let index = 0; index < 12; index++) writeFileSync(join(folder, `made/${index}.txt`), "");
});
const findProblem = async (): Promise<string | undefined> => undefined;

describe("searchFinding", () => {
  it("finds that searches are fast", async () => {
    expect(await searchFinding(folder, { findProblem })).toEqual({
      what: "search",
      state: "ok",
      detail: "files are searched with ripgrep",
    });
  });

  it("says why ripgrep is not used", async () => {
    const problem = "A search takes longer, because it is not installed.";
    expect(await searchFinding(folder, { findProblem: async () => problem })).toMatchObject({ state: "missing", detail: problem });
  });

  it("names the folder that makes each search slow, unless git ignores it", async () => {
    expect((await searchFinding(folder, { findProblem, many: 10 })).detail).toMatch(
      /more than 10 files, most of those counted in made\. .*\.gitignore/,
    );
    writeFileSync(join(folder, ".gitignore"), "made\n");
    expect(await searchFinding(folder, { findProblem, many: 10 })).toMatchObject({ state: "ok" });
  });
});
