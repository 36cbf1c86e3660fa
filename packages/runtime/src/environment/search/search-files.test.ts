import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { GlobOptions, GrepOptions, SearchOmission, Vfs } from "@keelson/protocol";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createCompositeVfs } from "../files/composite-vfs.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { createMemoryVfs } from "../files/memory-vfs.ts";

let root: string;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-search-")));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
});

function put(path: string, content: string | Buffer = "x\n"): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true });
  fs.writeFileSync(join(root, path), content);
}
function git(folder: string, ...args: readonly string[]): void {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: join(root, folder), stdio: "ignore" });
}

interface Told {
  readonly found: readonly string[];
  /** Reasons and paths, such as `ignored dist`. */
  readonly omitted: readonly string[];
}
const short = (files: Vfs, path: string): string =>
  path.slice((files.root === "/" || files.root === undefined ? "" : files.root).length + 1);

async function grep(files: Vfs, pattern: string, options: GrepOptions = {}): Promise<Told> {
  const omitted: SearchOmission[] = [];
  const matches = await files.grep(pattern, { outputMode: "files-with-matches", ...options, onOmitted: (one) => void omitted.push(one) });
  return told(
    files,
    matches.map(({ file }) => file),
    omitted,
  );
}
async function glob(files: Vfs, pattern: string, options: GlobOptions = {}): Promise<Told> {
  const omitted: SearchOmission[] = [];
  const entries = await files.glob(pattern, { ...options, onOmitted: (one) => void omitted.push(one) });
  return told(
    files,
    entries.map(({ path }) => path),
    omitted,
  );
}
function told(files: Vfs, found: readonly string[], omitted: readonly SearchOmission[]): Told {
  return { found: found.map((path) => short(files, path)), omitted: omitted.map(({ path, reason }) => `${reason} ${short(files, path)}`) };
}

/** The same files on a disk, in memory and mounted. */
async function everyWay(content: { readonly [path: string]: string | Buffer }): Promise<readonly (readonly [string, Vfs])[]> {
  const memory = createMemoryVfs();
  for (const [path, text] of Object.entries(content)) {
    put(path, text);
    await memory.write(path, text);
  }
  return [
    ["disk", createDiskVfs({ root })],
    ["disk without ripgrep", createDiskVfs({ root, ripgrep: false })],
    ["memory", memory],
    ["mount", createCompositeVfs({ mounts: [{ prefix: "/", backend: memory }] })],
  ];
}

describe("a search of content", () => {
  it("finds text in UTF-16, GB18030, Shift-JIS and Windows-1252, with its lines and columns", async () => {
    const ways = await everyWay({
      "be.txt": Buffer.from("\ufeffone\nwänted 日本\n", "utf16le").swap16(),
      "gb.txt": Buffer.concat([Buffer.from("w"), Buffer.from("d6d0cec4cbd1cbf7", "hex"), Buffer.from(" wanted\n")]),
      "latin.txt": Buffer.from("w\xe4nted caf\xe9\n", "latin1"),
      "le.txt": Buffer.from("\ufeffone\nwänted 日本\n", "utf16le"),
      "marked.txt": "\ufeffwanted\n",
    });
    for (const [way, files] of ways) {
      expect((await grep(files, "wänted")).found, way).toEqual(["be.txt", "latin.txt", "le.txt"]);
      expect((await grep(files, "日本")).found, way).toEqual(["be.txt", "le.txt"]);
      expect((await grep(files, "搜索 want")).found, way).toEqual(["gb.txt"]);
      expect((await grep(files, "^wanted")).found, way).toEqual(["marked.txt"]);
      expect((await grep(files, "^w[^a]")).found, way).toEqual(["be.txt", "gb.txt", "latin.txt", "le.txt"]);
      expect(await files.grep("日", { path: "le.txt", lineNumbers: true }), way).toMatchObject([
        { lineNumber: 2, lineContent: "wänted 日本", column: 8 },
      ]);
    }
  });

  it("says which file it searched for ASCII only, because its encoding is unknown", async () => {
    const damaged = Buffer.concat([Buffer.from("é "), Buffer.of(0xe9, 0xff), Buffer.from(" x\n")]);
    for (const [way, files] of await everyWay({ "damaged.txt": damaged, "plain.txt": "x" })) {
      expect(await grep(files, "ü"), way).toEqual({ found: [], omitted: ["encoding damaged.txt"] });
      expect(await grep(files, "x"), way).toEqual({ found: ["damaged.txt", "plain.txt"], omitted: [] });
    }
  });

  it("names binary files that match, and shows no line of them", async () => {
    const ways = await everyWay({ "a.bin": Buffer.from("\0wanted"), "b.bin": Buffer.from("\0other"), "c.txt": "wanted" });
    for (const [way, files] of ways) {
      expect(await grep(files, "wanted"), way).toEqual({ found: ["c.txt"], omitted: ["binary a.bin"] });
      expect((await grep(files, "wanted", { path: "a.bin" })).omitted, way).toEqual(["binary a.bin"]);
    }
  });

  it("searches a large file to its end, with the right lines and context, in each mode", async () => {
    const filler = "some line of a log that is long enough\n".repeat(60_000);
    put("large.log", `first\n${filler}before\nwanted one\nafter\n${filler}wanted two`);
    put("wide.log", Buffer.from(`\ufeff${filler}wänted\n`, "utf16le"));
    for (const ripgrep of [undefined, false] as const) {
      const files = createDiskVfs({ root, ripgrep, maxReadBytes: 1024 * 1024 });
      expect(await files.grep("wanted", { lineNumbers: true, context: 1, path: "large.log" })).toMatchObject([
        { lineNumber: 60_003, before: ["before"], lineContent: "wanted one", after: ["after"] },
        { lineNumber: 120_005, before: ["some line of a log that is long enough"], lineContent: "wanted two", after: [] },
      ]);
      expect(await files.grep("w[a]nt[e]d", { outputMode: "count" })).toMatchObject([{ file: join(root, "large.log"), lineNumber: 2 }]);
      expect((await grep(files, "w.nt[e]d")).found).toEqual(["large.log", "wide.log"]);
      expect(await files.grep("wänted", { lineNumbers: true })).toMatchObject([{ file: join(root, "wide.log"), lineNumber: 60_001 }]);
      expect(await files.grep("line", { maxMatches: 3, path: "large.log" })).toHaveLength(3);
      expect((await grep(files, "one\nafter", { multiline: true })).omitted).toEqual(["too-large large.log", "too-large wide.log"]);
    }
  });

  it("says that a file is too large or has too long a line, and goes on", async () => {
    put("huge.log", "");
    fs.truncateSync(join(root, "huge.log"), 2 * 1024 ** 3);
    put("small.txt", "wanted");
    expect(await grep(createDiskVfs({ root }), "wanted")).toEqual({ found: ["small.txt"], omitted: ["too-large huge.log"] });
  });

  it("says what it may not read, with the reason of the system", async ({ skip }) => {
    if (process.getuid?.() === 0) skip("the superuser reads everything");
    put("closed/a.txt", "wanted");
    put("secret.txt", "wanted");
    fs.chmodSync(join(root, "closed"), 0);
    fs.chmodSync(join(root, "secret.txt"), 0);
    onTestFinished(() => fs.chmodSync(join(root, "closed"), 0o755));
    expect(await grep(createDiskVfs({ root }), "wanted")).toEqual({ found: [], omitted: ["unreadable closed", "unreadable secret.txt"] });
  });

  it.runIf(process.platform === "linux")("says that it cannot read a file whose name is not UTF-8", async () => {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/odd-`), Buffer.of(0xe9)]), "wanted");
    expect((await grep(createDiskVfs({ root }), "wanted")).omitted).toEqual(["unreadable odd-\ufffd"]);
  });

  it("never searches a file that it may not read, and names it whether it would match or not", async () => {
    const mayRead = (path: string): boolean => !path.endsWith("/.env");
    for (const [way, files] of await everyWay({ ".env": "KEY=abc", "a.txt": "KEY=abc" })) {
      expect(await grep(files, "KEY=a", { mayRead }), way).toEqual({ found: ["a.txt"], omitted: ["denied .env"] });
      expect(await grep(files, "KEY=z", { mayRead }), way).toEqual({ found: [], omitted: ["denied .env"] });
      expect(await grep(files, "KEY", { mayRead, path: ".env" }), way).toEqual({ found: [], omitted: ["denied .env"] });
      expect(await glob(files, "*", { mayRead }), way).toEqual({ found: ["a.txt"], omitted: ["denied .env"] });
    }
  });

  it("says that a search above several mounts goes to one of them", async () => {
    const [first, second] = [createMemoryVfs(), createMemoryVfs()];
    await first.write("a.txt", "wanted");
    await second.write("a.txt", "wanted");
    const files = createCompositeVfs({
      mounts: [
        { prefix: "/one", backend: first },
        { prefix: "/two", backend: second },
      ],
    });
    expect(await grep(files, "wanted")).toEqual({ found: ["one/a.txt"], omitted: ["left-out two"] });
  });
});

describe("a search that leaves out what git ignores", () => {
  const options = { gitignore: true, leaveOut: ["node_modules"] } as const;

  it("finds what the index has, though a rule or a name leaves it out, and names the rest", async () => {
    git("", "init");
    put(".gitignore", "build\n*.log\n");
    for (const path of ["build/kept.txt", "build/deep/kept.txt", "node_modules/kept.txt", "kept.log", "dist/a.txt", "vendor/a.txt"])
      put(path);
    git("", "add", "--force", ".");
    for (const path of [
      "build/new.txt",
      "build/deep/new.txt",
      "node_modules/new.txt",
      "node_modules/m/new.txt",
      "new.log",
      "vendor/new.txt",
    ])
      put(path);
    const found = [
      "build/deep/kept.txt",
      "build/kept.txt",
      "dist/a.txt",
      "kept.log",
      "node_modules/kept.txt",
      "vendor/a.txt",
      "vendor/new.txt",
    ];
    const omitted = [
      "ignored build/deep/new.txt",
      "ignored build/new.txt",
      "ignored new.log",
      "ignored node_modules/m",
      "ignored node_modules/new.txt",
    ];
    const files = createDiskVfs({ root });
    expect(await grep(files, "x", options)).toEqual({ found, omitted });
    expect(await glob(files, "**/*.{txt,log}", options)).toEqual({ found, omitted });
  });

  it.each(["2", "3", "4"])("reads version %s of the index", async (version) => {
    git("", "init");
    git("", "config", "index.version", version);
    put(".gitignore", "out\n");
    for (const path of ["out/a/b/c.txt", "out/a/b.txt", "out/é.txt"]) put(path);
    git("", "add", "--force", ".");
    expect((await glob(createDiskVfs({ root }), "**/*.txt", options)).found).toEqual(["out/a/b/c.txt", "out/a/b.txt", "out/é.txt"]);
  });

  it("says that it does not understand an index, of which it would need to know", async () => {
    git("", "init");
    put(".gitignore", "out\n");
    put("out/a.txt");
    put(".git/index", "DIRC and something else");
    expect((await grep(createDiskVfs({ root }), "x", { ...options, glob: "*.txt" })).omitted).toEqual([
      "unreadable .git/index",
      "ignored out",
    ]);
  });

  it("applies info/exclude, and the rules of a repository within another to that one alone", async () => {
    git("", "init");
    put(".git/info/exclude", "local.txt\n");
    put(".gitignore", "*.gen\n");
    for (const path of ["local.txt", "a.gen", "inner/a.gen", "inner/local.txt", "inner/own.txt"]) put(path);
    git("inner", "init");
    put("inner/.gitignore", "own.txt\n");
    expect(await grep(createDiskVfs({ root }), "x", { ...options, glob: "*.{txt,gen}" })).toEqual({
      found: ["inner/a.gen", "inner/local.txt"],
      omitted: ["ignored a.gen", "ignored inner/own.txt", "ignored local.txt"],
    });
  });

  it("knows the index and the rules of a worktree beside the first, and of a repository above the root", async () => {
    put("main/.gitignore", "*.log\n/app/out\n");
    put("main/app/kept.log");
    put("main/app/out/a.txt");
    git("main", "init");
    git("main", "add", "--force", "app/kept.log", ".gitignore");
    git("main", "commit", "-m", "a");
    git("main", "worktree", "add", "../beside");
    put("main/app/new.log");
    put("beside/app/new.log");
    const expected = { found: ["app/kept.log"], omitted: ["ignored app/new.log"] };
    expect(await grep(createDiskVfs({ root: join(root, "beside") }), "x", options)).toEqual(expected);
    expect(await grep(createDiskVfs({ root: join(root, "main/app") }), "x", options)).toEqual({
      found: ["kept.log"],
      omitted: ["ignored new.log", "ignored out"],
    });
  });

  it("does not wait for a pipe that a repository names as its storage", async () => {
    put(".gitignore", "out\n");
    put("out/a.txt");
    fs.mkdirSync(join(root, "storage"));
    execFileSync("mkfifo", [join(root, "storage/index"), join(root, "storage/commondir")]);
    put(".git", `gitdir: ${join(root, "storage")}\n`);
    expect((await grep(createDiskVfs({ root }), "x", { ...options, glob: "*.txt" })).omitted).toContain("ignored out");
  });

  it("finds what a pattern names, whatever leaves it out", async () => {
    git("", "init");
    put(".gitignore", "dist\n.env.local\n");
    for (const path of ["dist/a/index.js", ".env.local", "node_modules/m/index.js", "src/index.js"]) put(path);
    const files = createDiskVfs({ root });
    expect((await glob(files, ".env.local", options)).found).toEqual([".env.local"]);
    expect((await glob(files, "dist/**/*.js", options)).found).toEqual(["dist/a/index.js"]);
    expect((await glob(files, "node_modules/m/*.js", options)).found).toEqual(["node_modules/m/index.js"]);
    expect((await glob(files, ".git/HEAD", options)).found).toEqual([".git/HEAD"]);
    expect(await glob(files, "**/*.js", options)).toEqual({ found: ["src/index.js"], omitted: ["ignored dist", "left-out node_modules"] });
  });
});

describe("a glob with brackets and braces in real names", () => {
  const content = {
    "app/[slug]/page.tsx": "x",
    "app/[slug]/[id]/page.tsx": "x",
    "app/[[...rest]]/page.tsx": "x",
    "app/s/page.tsx": "x",
    "app/(group)/{id}.tsx": "x",
    "app/a[b/one.tsx": "x",
  };

  it("matches what is really named like this, and what the class stands for", async () => {
    for (const [way, files] of await everyWay(content)) {
      expect((await glob(files, "app/[slug]/*.tsx")).found, way).toEqual(["app/[slug]/page.tsx", "app/s/page.tsx"]);
      expect((await glob(files, "app/[slug]/[id]/page.tsx")).found, way).toEqual(["app/[slug]/[id]/page.tsx"]);
      expect((await glob(files, "app/[slug]/[a-z]*.tsx")).found, way).toEqual(["app/[slug]/page.tsx", "app/s/page.tsx"]);
      expect((await glob(files, "**/[slug]/**/page.tsx")).found, way).toEqual([
        "app/[slug]/[id]/page.tsx",
        "app/[slug]/page.tsx",
        "app/s/page.tsx",
      ]);
      expect((await glob(files, "app/[[...rest]]/*")).found, way).toEqual(["app/[[...rest]]/page.tsx"]);
      expect((await glob(files, "app/(group)/{id}.tsx")).found, way).toEqual(["app/(group)/{id}.tsx"]);
      expect((await glob(files, "app/a[b/*.tsx")).found, way).toEqual(["app/a[b/one.tsx"]);
      expect((await grep(files, "x", { glob: "app/[slug]/*.tsx" })).found, way).toEqual(["app/[slug]/page.tsx", "app/s/page.tsx"]);
    }
  });

  it("is refused with the reason if nothing is named like this", async () => {
    for (const [way, files] of await everyWay(content)) {
      await expect(files.glob("app/[[...none]]/*"), way).rejects.toMatchObject({
        failure: { kind: "unsupported", message: expect.stringMatching(/a \[ within/) },
      });
      await expect(files.grep("x", { glob: "{none}.tsx" }), way).rejects.toMatchObject({ failure: { kind: "unsupported" } });
    }
  });
});
