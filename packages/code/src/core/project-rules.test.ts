import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { allowInProject, readProjectRules, removeFromProject } from "./project-rules.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function setUp(): Promise<{ readonly permissions: string }> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-rules-"));
  folders.push(folder);
  return { permissions: join(folder, "permissions.jsonl") };
}

const patternsOf = async (home: { readonly permissions: string }, project?: string): Promise<readonly string[]> =>
  (await readProjectRules(home, project)).map(({ pattern }) => pattern);

describe("rules of a project", () => {
  it("hold in their project alone, once each, until they are taken back", async () => {
    const home = await setUp();
    expect(await readProjectRules(home, "/a")).toEqual([]);
    await allowInProject(home, "/a", ["bash(npm test*)", "read_file"], 1);
    await allowInProject(home, "/b", ["bash(make*)"], 2);
    await allowInProject(home, "/a", ["bash(npm test*)"], 3);
    expect(await patternsOf(home, "/a")).toEqual(["bash(npm test*)", "read_file"]);
    expect(await patternsOf(home, "/")).toEqual([]);
    expect(await patternsOf(home)).toEqual(["bash(npm test*)", "read_file", "bash(make*)"]);
    expect(await removeFromProject(home, "/a", "bash(npm test*)", 4)).toBe(true);
    expect(await removeFromProject(home, "/a", "bash(npm test*)", 5)).toBe(false);
    expect(await removeFromProject(home, "/a", "bash(make*)", 6)).toBe(false);
    expect(await patternsOf(home)).toEqual(["read_file", "bash(make*)"]);
    await allowInProject(home, "/a", ["bash(npm test*)"], 7);
    expect(await patternsOf(home, "/a")).toEqual(["read_file", "bash(npm test*)"]);
  });

  it("are for their owner alone", async () => {
    const home = await setUp();
    await allowInProject(home, "/a", ["read_file"], 1);
    expect((await stat(home.permissions)).mode & 0o777).toBe(0o600);
  });

  it("leave nothing of each other out when many are added at once", async () => {
    const home = await setUp();
    const patterns = Array.from({ length: 20 }, (_, index) => `bash(command ${index})`);
    await Promise.all(patterns.map((pattern) => allowInProject(home, "/a", [pattern], 1)));
    expect([...(await patternsOf(home, "/a"))].toSorted()).toEqual(patterns.toSorted());
  });

  it("do without a line that a crash cut off, and the next one is whole", async () => {
    const home = await setUp();
    await allowInProject(home, "/ä", ["read_file"], 1);
    await appendFile(home.permissions, '{"project":"/ä","allow":"ba');
    expect(await patternsOf(home, "/ä")).toEqual(["read_file"]);
    await allowInProject(home, "/ä", ["grep"], 2);
    expect(await patternsOf(home, "/ä")).toEqual(["read_file", "grep"]);
    expect((await readFile(home.permissions, "utf8")).split("\n").length).toBe(3);
  });

  it("are refused as a whole when one can't be read: it might have taken something back", async () => {
    const home = await setUp();
    await allowInProject(home, "/a", ["read_file"], 1);
    for (const damage of ["garbage", "[]", '{"project":"/a","at":1}', '{"project":"/a","at":1,"revoke":"read_file"}']) {
      await writeFile(home.permissions, `${damage}\n${JSON.stringify({ project: "/a", allow: "grep", at: 2 })}\n`);
      await expect(readProjectRules(home, "/a")).rejects.toThrow(/^Line 1 of .*permissions\.jsonl can't be read/);
    }
  });
});
