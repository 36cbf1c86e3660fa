import { expect, it } from "vitest";
import { ownWorktreeAt, worktreesOf } from "./own-worktrees.ts";

it("finds a worktree of Keelson by the path of any folder in it, also if it is gone", () => {
  const home = "/nowhere/.keelson";
  const root = `${worktreesOf(home, "/work/my app")}/fix`;
  expect(root).toMatch(/^\/nowhere\/\.keelson-worktrees\/my-app-[0-9a-f]{8}\/fix$/);
  for (const folder of [root, `${root}/src/deep`]) expect(ownWorktreeAt(folder, home)).toEqual({ name: "fix", root });
  for (const folder of ["/nowhere/.keelson-worktrees", "/nowhere/.keelson-worktrees/a", "/nowhere/.keelson/a/b", "/work/my app", "/"])
    expect(ownWorktreeAt(folder, home)).toBeUndefined();
  expect(worktreesOf(home, "/other/my app")).not.toBe(worktreesOf(home, "/work/my app"));
});
