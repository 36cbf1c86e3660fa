import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCommandLine } from "./read-command-line.ts";

let base: string;
let cwd: string;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "keelson-around-"));
  cwd = join(base, "project");
  for (const folder of ["project/src/deep", "project/keys", "project/dashes", "outside"])
    mkdirSync(join(base, folder), { recursive: true });
  for (const file of [
    ...["project/.env", "project/.env.example", "project/src/a.ts", "project/src/deep/b.ts", "project/keys/server.pem"],
    ...["project/dashes/-rf", "outside/secret"],
  ])
    writeFileSync(join(base, file), "text\n");
  symlinkSync("../outside", join(cwd, "out"));
  symlinkSync("../../outside/secret", join(cwd, "src/secret.ts"));
  symlinkSync(".env", join(cwd, "settings"));
  symlinkSync("src", join(cwd, "source"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function read(line: string, findSecrets = false) {
  const { commands = [], reads = [], unknown } = await readCommandLine(line, { cwd, findSecrets });
  return { isUnasked: unknown === undefined && commands.every(({ readOnly }) => readOnly === true), reads };
}

describe("a link in the workspace", () => {
  it.each([
    "cat out/secret",
    "cat out/*",
    "cat src/*.ts",
    "cat < out/secret",
    "cd out; cat secret",
    "cd out && cat secret",
    "cat src/secret.ts",
    "head -1 out/../outside/secret",
    "cd source; cat ../../outside/secret",
    "cat 'out/secret'",
    "f=out/secret; cat $f",
    'for f in src/*.ts; do cat "$f"; done',
    "ls out/",
  ])("has %s asked about, because it leads out of it", async (line) => {
    expect(await read(line)).toMatchObject({ isUnasked: false });
  });

  it("has the file that it leads to read, so that what is sensitive is known by its own name", async () => {
    expect((await read("cat settings")).reads).toEqual([join(cwd, "settings"), join(cwd, ".env")]);
    expect((await read("cat < settings")).reads).toContain(join(cwd, ".env"));
    expect((await read("cat ./*env")).reads).not.toContain(join(cwd, ".env"));
    expect((await read("cat .e*")).reads).toContain(join(cwd, ".env"));
  });

  it("has a command run unasked that stays inside", async () => {
    expect(await read("cat source/a.ts")).toMatchObject({ isUnasked: true });
    expect(await read("cd source && cat deep/../a.ts")).toMatchObject({ isUnasked: true });
    expect(await read("wc -l src/deep/*.ts")).toMatchObject({ isUnasked: true });
  });
});

describe("a pattern of files", () => {
  it("is not understood if it matches a name that begins with a dash", async () => {
    expect(await read("cd dashes && wc -l *")).toMatchObject({ isUnasked: false });
    expect(await read("cd dashes && wc -l ./*")).toMatchObject({ isUnasked: true });
    expect(await read("cd src/deep && wc -l *")).toMatchObject({ isUnasked: true });
  });
});

describe("files with secrets", () => {
  const secrets = async (line: string) => {
    const { reads } = await read(line, true);
    return reads.filter((path) => /\.env$|\.pem$|secret$/.test(path)).toSorted();
  };

  it.each([
    ["grep -r TOKEN .", [".env", "keys/server.pem"]],
    ["grep -r TOKEN", [".env", "keys/server.pem"]],
    ["grep -rh TOKEN --include=.env .", [".env"]],
    ["grep -rh TOKEN --include='*.ts' .", []],
    ["grep -r TOKEN src", []],
    ["find . -type f -exec grep TOKEN {} +", ["../outside/secret", ".env", "keys/server.pem"]],
    ["find . -name '*.pem' -exec cat {} ';'", ["keys/server.pem"]],
    ["find . -name '*.pem' -o -type f -exec cat {} ';'", ["../outside/secret", ".env", "keys/server.pem"]],
    ["find . -exec cat {} ';'", ["../outside/secret", ".env", "keys/server.pem"]],
    ["find -exec cat {} ';'", ["../outside/secret", ".env", "keys/server.pem"]],
    ["rg TOKEN", ["keys/server.pem"]],
    ["rg --hidden TOKEN", [".env", "keys/server.pem"]],
    ["rg TOKEN -g '.env'", [".env", "keys/server.pem"]],
    ["tar c .", [".env", "keys/server.pem"]],
    ["git log -p", []],
    ["ls -R .", []],
    ["grep -R TOKEN src", ["../outside/secret"]],
    ["find src -type f -exec cat {} +", ["../outside/secret"]],
    ["find src/deep -exec cat {} +", []],
    ["diff -r src keys", ["../outside/secret", "keys/server.pem"]],
  ])("are among what %s reads", async (line, found) => {
    expect(await secrets(line)).toEqual(found.map((path) => join(cwd, path)));
  });

  it("are not looked for if something else hides them", async () => {
    expect((await read("grep -r TOKEN .")).reads).toEqual([cwd]);
  });
});
