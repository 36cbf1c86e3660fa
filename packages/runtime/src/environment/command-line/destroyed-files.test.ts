import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readCommandLine } from "./read-command-line.ts";

let cwd = "";
beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "keelson-destroyed-")));
  for (const folder of ["dist", "src", "other"]) mkdirSync(join(cwd, folder));
  for (const file of ["src/a.o", "src/b.o", "src/c.c", "old"]) writeFileSync(join(cwd, file), "");
  symlinkSync("/etc/hosts", join(cwd, "link"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const read = (line: string): Promise<CallEffects> => readCommandLine(line, { cwd, findDestroyed: true });
const destroyed = async (line: string): Promise<readonly string[]> =>
  ((await read(line)).destroys ?? []).map(
    ({ pattern, sparesIgnored }) =>
      `${pattern.replace(`${cwd}/`, "").replace(cwd, ".")}${sparesIgnored === true ? " (spares ignored)" : ""}`,
  );
const isNamed = async (line: string): Promise<boolean> =>
  (await read(line)).commands?.every(({ readOnly, destroysNamed }) => readOnly === true || destroysNamed === true) === true;

it.each<readonly [line: string, ...patterns: readonly string[]]>([
  ["rm -rf dist", "dist", "dist/*"],
  ["rm -f src/*.o", "src/a.o", "src/b.o"],
  ["/bin/rm -r dist", "dist", "dist/*"],
  ["cd src && rm -r *", "src/a.o", "src/b.o", "src/c.c", "src/a.o/*", "src/b.o/*", "src/c.c/*"],
  ["bash -c 'rm -r dist'", "dist", "dist/*"],
  ["timeout 5 nice rm -r dist", "dist", "dist/*"],
  ["for f in a b; do rm $f; done", "a", "b"],
  ["rm link", "link"],
  ["rm -r ~/x", `${homedir()}/x`, `${homedir()}/x/*`],
  ["find . -name '*.o' -delete", ".", "*.o", "*/*.o"],
  ["find src -exec rm -rf {} +", "src/*", "src/*/*"],
  ["shred -u link", "link", "/etc/hosts", "link/*", "/etc/hosts/*"],
  ["echo a > x.txt", "x.txt"],
  ["echo a > link", "link", "/etc/hosts"],
  ["{ echo a; ls; } &> x.txt", "x.txt"],
  ["cp old new", "new", "new/old"],
  ["cp -r src dist", "dist", "dist/src", "dist/src/*"],
  ["cp -rT src dist", "dist", "dist/src", "dist/*", "dist/src/*"],
  ["mv old dist", "old", "dist", "dist/old", "old/*", "dist/old/*"],
  ["ln -sf src new", "new", "new/src"],
  ["dd if=/dev/zero of=/dev/sda", "/dev/sda"],
  ["sort old -o new", "new"],
  ["sed -i s/a/b/ old", "old"],
  ["rsync -a --delete src/ dist/", "dist", "dist/src", "dist/*", "dist/src/*"],
  ["git clean -fdx", "*"],
  ["git clean -fdX src", "src", "src/*"],
  ["git clean -fd", "* (spares ignored)"],
  ["git reset --hard HEAD~1", "* (spares ignored)"],
  ["git checkout main", "* (spares ignored)"],
  ["git checkout -- old", "* (spares ignored)"],
  ["git stash -a", "*"],
  ["git worktree remove --force other", "other", "other/*"],
  ["git -C /etc branch -D x", "/etc/*"],
])("finds what `%s` deletes or overwrites", async (line, ...patterns) => {
  expect(await destroyed(line)).toEqual(patterns);
  expect(await isNamed(line)).toBe(true);
});

it.each([
  "ls -la > /dev/null",
  "echo a >> x.txt",
  "tee -a old < src/c.c",
  "touch old && mkdir -p dist && chmod 600 old",
  "rmdir dist",
  "ln -s ../a old",
  "git add -A && git commit -m x && git push --force && git fetch",
  "git branch -D side; git stash drop; git tag -d v1",
  "git clean -ndx",
])("finds nothing that `%s` deletes or overwrites", async (line) => {
  expect(await destroyed(line)).toEqual([]);
  expect(await isNamed(line)).toBe(true);
});

it.each([
  'rm -rf "$X"',
  "rm -rf --unknown dist",
  "find . -print0 | xargs -0 rm",
  "D=$(pwd); rm -rf $D",
  'find "$X" -delete',
  "git clean -fdx $X",
])("takes `%s`, which is there to delete, for one that may delete anything", async (line) => {
  expect((await read(line)).destroys).toContainEqual({ pattern: "*" });
});

it.each([
  "npm test",
  "make",
  "git gc --prune=now",
  "git reflog expire --all",
  "python x.py",
  "./rm -r dist",
  'cp "$X" dist',
  "LD_PRELOAD=x.so rm old",
  "evil() { :; }; evil",
])("does not claim to know all that `%s` destroys", async (line) => {
  expect(await isNamed(line)).toBe(false);
});

it("says nothing about it unless it is asked", async () => {
  const { destroys, commands } = await readCommandLine("rm -rf dist > x", { cwd });
  expect([destroys, commands]).toEqual([undefined, [expect.not.objectContaining({ destroysNamed: expect.anything() })]]);
});
