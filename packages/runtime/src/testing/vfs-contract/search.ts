import type { GrepMatch, Vfs } from "@keelson/protocol";
import { expect, it } from "vitest";
import { absolute, failureOf, kindOf, rootOf, type VfsContent, type VfsSubject } from "./create-vfs.ts";

const CONTENT: VfsContent = {
  "src/a.ts": "one\nTwo é two\nthree\ntwo\n",
  "src/b.py": "two\r\nfour\r\n",
  "src/deep/c.ts": "nothing\n",
  "binary.bin": Uint8Array.of(0x74, 0x77, 0x6f, 0, 1),
};

/** Finding files, and what is in them. */
export function describeSearch({ create, can }: VfsSubject): void {
  const short = (files: Vfs, matches: readonly GrepMatch[]): string[] =>
    matches.map(
      ({ file, lineNumber, column, lineContent }) => `${file.slice(absolute(files, "").length)}:${lineNumber}:${column}:${lineContent}`,
    );
  const found = async (files: Vfs, pattern: string, options: Parameters<Vfs["grep"]>[1] = {}): Promise<string[]> =>
    short(files, await files.grep(pattern, options));

  it("finds entries by glob in the order of paths, at most as many as asked for [VT-08]", async () => {
    const files = await create({ "src/b.ts": "", "src/a/c.ts": "12", "src/a.ts": "12", "readme.md": "", ".hidden/x.ts": "" });
    const paths = async (...given: Parameters<Vfs["glob"]>): Promise<string[]> =>
      (await files.glob(...given)).map(({ path }) => path.slice(absolute(files, "").length));
    expect(await paths("**/*.ts")).toEqual([".hidden/x.ts", "src/a/c.ts", "src/a.ts", "src/b.ts"]);
    expect(await paths("src/*")).toEqual(["src/a", "src/a.ts", "src/b.ts"]);
    expect(await paths("{readme,src/b}.*")).toEqual(["readme.md", "src/b.ts"]);
    expect(await paths("[!a].ts", { path: "src" })).toEqual(["src/b.ts"]);
    expect(await files.glob("*.ts", { path: "src", limit: 1 })).toEqual([{ path: absolute(files, "src/a.ts"), isDir: false, size: 2 }]);
    expect(await files.glob("a", { path: "src" })).toEqual([{ path: absolute(files, "src/a"), isDir: true }]);
    expect(await kindOf(files.glob("*", { path: "missing" }))).toBe("not-found");
  });

  it("gives lines with the byte offset of the match, and no line numbers unless asked [VT-06] [GR-05]", async () => {
    const files = await create(CONTENT);
    expect(await found(files, "two")).toEqual(["src/a.ts:0:7:Two é two", "src/a.ts:0:0:two", "src/b.py:0:0:two"]);
    expect(await found(files, "two", { lineNumbers: true, path: "src/a.ts" })).toEqual(["src/a.ts:2:7:Two é two", "src/a.ts:4:0:two"]);
  });

  it("counts per file, or names files only [VT-07] [GR-04]", async () => {
    const files = await create(CONTENT);
    expect(await files.grep("two", { outputMode: "count", caseInsensitive: true })).toMatchObject([
      { lineNumber: 2, lineContent: "2" },
      { lineNumber: 1, lineContent: "1" },
    ]);
    expect(await found(files, "two", { outputMode: "files-with-matches" })).toEqual(["src/a.ts:0:0:", "src/b.py:0:0:"]);
  });

  it("shows context, the symmetric one over the others [GR-01]", async () => {
    const files = await create(CONTENT);
    expect(await files.grep("three", { beforeContext: 9, context: 1 })).toMatchObject([{ before: ["Two é two"], after: ["two"] }]);
    expect(await files.grep("three", { afterContext: 1 })).toMatchObject([{ before: [], after: ["two"] }]);
    expect(await files.grep("three", { beforeContext: 2 })).toMatchObject([{ before: ["one", "Two é two"], after: [] }]);
  });

  it("passes over the folders that are to be left out, unless the search starts in one", async () => {
    const files = await create({ "a.txt": "x", "made/a.txt": "x", "deep/made/b/c.txt": "x", "deep/made.txt": "x", "remade/a.txt": "x" });
    const left = async (options: Parameters<Vfs["grep"]>[1]): Promise<string[]> =>
      (await files.grep("x", { leaveOut: ["made"], ...options })).map(({ file }) => file.slice(absolute(files, "").length));
    expect(await left({})).toEqual(["a.txt", "deep/made.txt", "remade/a.txt"]);
    expect(await left({ path: "made" })).toEqual(["made/a.txt"]);
    expect(await left({ path: "deep/made", gitignore: true })).toEqual(["deep/made/b/c.txt"]);
  });

  it("narrows by glob, type and number, inverts, and takes text as it stands [GR-01] [GR-03]", async () => {
    const files = await create(CONTENT);
    expect(await found(files, "two", { glob: "*.py" })).toEqual(["src/b.py:0:0:two"]);
    expect(await found(files, "two", { glob: "src/*.py" })).toEqual(["src/b.py:0:0:two"]);
    expect(await found(files, "two", { fileType: "ts" })).toHaveLength(2);
    expect(await found(files, "two", { fileType: "python" })).toHaveLength(1);
    expect(await found(files, "two", { fileType: "bin" })).toEqual([]);
    expect(await found(files, "two", { maxMatches: 2 })).toHaveLength(2);
    expect(await found(files, "two", { invert: true, path: "src/b.py" })).toEqual(["src/b.py:0:0:four"]);
    expect(await found(files, "t.o", { fixedString: true })).toEqual([]);
    expect(await found(files, "two", { path: "binary.bin" })).toEqual([]);
  });

  it("spans lines when asked, one hit for matches that share a line", async () => {
    const files = await create(CONTENT);
    expect(await found(files, "one.*two\nthree", { multiline: true, lineNumbers: true })).toEqual(["src/a.ts:1:0:one\nTwo é two\nthree"]);
    expect(await found(files, "one\nTwo", { multiline: true, invert: true, path: "src/a.ts" })).toEqual([
      "src/a.ts:0:0:three",
      "src/a.ts:0:0:two",
    ]);
  });

  it("says why a pattern is invalid, and where there is nothing to search", async () => {
    const files = await create(CONTENT);
    expect(await failureOf(files.grep("(unclosed"))).toMatchObject({
      kind: "other",
      message: expect.stringMatching(/not a valid regular expression.*fixedString/s),
    });
    expect(await kindOf(files.grep("x", { path: "missing" }))).toBe("not-found");
  });

  if (can("cd"))
    it("starts at the working directory when no path is given [GR-02]", async () => {
      const files = await create({ ...CONTENT, "top.ts": "two" });
      await files.cd("src");
      expect(await files.grep("two")).toHaveLength(3);
      expect((await files.glob("*.ts")).map(({ path }) => path)).toEqual([absolute(files, "src/a.ts")]);
      await files.cd(rootOf(files));
      expect(await files.grep("two")).toHaveLength(4);
    });
}
