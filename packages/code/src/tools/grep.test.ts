import { symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());
/** A folder is named, because a rule for `out` may hold files that match. */
const IGNORED = "[Left out, because git ignores them: out/. Give one as path to search it.]";
const grep = (input: Parameters<ToolWorkspace["say"]>[1]) => workspace.say("grep", input);

describe("grep", () => {
  beforeEach(() => {
    workspace.put("src/a.ts", "const one = 1;\nconst two = one;\n");
    workspace.put("src/b.py", "One = 1\n");
    workspace.put(".env.example", "one=1\n");
    workspace.put("out/gen.ts", "const one = 1;\n");
    workspace.put(".gitignore", "out\n");
  });

  it("shows matching lines with path and number, sorted, without what git ignores", async () => {
    expect(await grep({ pattern: "one" })).toBe(`.env.example:1:one=1\nsrc/a.ts:1:const one = 1;\nsrc/a.ts:2:const two = one;\n${IGNORED}`);
  });

  it("leaves out dependencies, says so, and searches them if they are named", async () => {
    workspace.put("node_modules/m.js", "const one = 1;\n");
    expect(await grep({ pattern: "nowhere" })).toBe(
      `No match for nowhere.\n[Left out, because they hold dependencies: node_modules/. Give one as path to search it.]\n${IGNORED}`,
    );
    expect(await grep({ pattern: "one", path: "node_modules" })).toBe("node_modules/m.js:1:const one = 1;");
  });

  it("searches a log that is larger than what is read at once", async () => {
    const lines = "a line of a log that nobody looks for\n".repeat(30_000);
    workspace.put("big.log", `${lines}needle one\n${lines.repeat(60)}`);
    expect(await grep({ pattern: "needle one", mode: "files" })).toBe(`big.log\n${IGNORED}`);
    expect(await grep({ pattern: "needle", path: "big.log" })).toBe("big.log:30001:needle one");
  });

  it("searches a file in UTF-16", async () => {
    workspace.put("wide.txt", Buffer.from("\ufefffirst\nsecond wörd\n", "utf16le"));
    expect(await grep({ pattern: "wörd", path: "." })).toBe(`wide.txt:2:second wörd\n${IGNORED}`);
  });

  it("says which files it did not search, with the reason and the remedy", async () => {
    workspace.put("a.bin", Buffer.from("\0needle"));
    workspace.put("huge.log", "");
    truncateSync(join(workspace.root, "huge.log"), 2 * 1024 ** 3);
    expect(await grep({ pattern: "needle" })).toMatch(
      /^No match for needle\.\n\[Binary files that match .*: a\.bin\. Search one with a command.*\]\n\[Not searched to the end, because they are too large: huge\.log \(.*2147483648 bytes.*\)\. Search one with a command/,
    );
  });

  it("names a guarded file whether it would match or not, so that patterns cannot find out what it holds", async () => {
    workspace.put(".env", "KEY=abc\n");
    const note = "[Left out, since the permission rules guard them: .env. Name one as path to ask for it.]";
    for (const pattern of ["KEY=a", "KEY=z"])
      expect(await workspace.say("grep", { pattern }, { mayRead: (path) => path !== ".env" })).toBe(
        `No match for ${pattern}.\n${note}\n${IGNORED}`,
      );
  });

  it("shows a name with the end of a line as one line", async () => {
    workspace.put("odd\nname.txt", "needle\n");
    expect(await grep({ pattern: "needle", path: "." })).toBe(`"odd\\nname.txt":1:needle\n${IGNORED}`);
  });

  it("names files, or counts lines", async () => {
    expect(await grep({ pattern: "one", mode: "files", path: "src" })).toBe("src/a.ts");
    expect(await grep({ pattern: "one", mode: "count", ignore_case: true, path: "src" })).toBe("src/a.ts:2\nsrc/b.py:1");
  });

  it("narrows by path, glob and type", async () => {
    expect(await grep({ pattern: "one", path: "src/a.ts", context: 0 })).toMatch(/^src\/a.ts:1:/);
    expect(await grep({ pattern: "one", glob: "*.{ts,py}", ignore_case: true, mode: "files" })).toBe(`src/a.ts\nsrc/b.py\n${IGNORED}`);
    expect(await grep({ pattern: "one", type: "py", ignore_case: true })).toBe(`src/b.py:1:One = 1\n${IGNORED}`);
  });

  it("shows each line once where those around two matches meet, and where lines are passed over", async () => {
    workspace.put("ctx.txt", ["hit 1", "a", "hit 2", "b", "c", "d", "hit 3"].join("\n"));
    expect(await grep({ pattern: "hit", context: 1, path: "ctx.txt" })).toBe(
      "ctx.txt:1:hit 1\nctx.txt-2-a\nctx.txt:3:hit 2\nctx.txt-4-b\n--\nctx.txt-6-d\nctx.txt:7:hit 3",
    );
  });

  it("shows context, spans lines, takes plain text", async () => {
    expect(await grep({ pattern: "two", context: 1, path: "src/a.ts" })).toBe("src/a.ts-1-const one = 1;\nsrc/a.ts:2:const two = one;");
    expect(await grep({ pattern: "1;.*two", multiline: true, path: "src/a.ts" })).toMatch(/^src\/a.ts:1:/);
    workspace.put("x.txt", "a(b\n--version\n");
    expect(await grep({ pattern: "a(b", fixed: true })).toBe(`x.txt:1:a(b\n${IGNORED}`);
    expect(await grep({ pattern: "--version" })).toBe(`x.txt:2:--version\n${IGNORED}`);
  });

  it("says that nothing matches", async () => {
    expect(await grep({ pattern: "nowhere", glob: "*.ts" })).toBe(`No match for nowhere in files like *.ts.\n${IGNORED}`);
    expect(await grep({ pattern: "one", type: "nosuch" })).toBe(`No match for one of type nosuch.\n${IGNORED}`);
  });

  it("says why a search cannot be made", async () => {
    expect(await grep({ pattern: "a(b" })).toMatch(/^ERROR .* a\(b is not a valid regular expression: [^]*set fixed\./);
    expect(await grep({ pattern: "(?i)a" })).toMatch(/^ERROR .*flags[^]*set fixed\./);
    expect(await grep({ pattern: "a", glob: "[a" })).toMatch(/^ERROR The glob .*\[a is not searched for/);
    expect(await grep({ pattern: "a", path: "srcc" })).toMatch(/^ERROR .*Did you mean src\?/);
    expect(await grep({ pattern: "a", path: ".." })).toMatch(/^ERROR .*lies outside/);
  });

  it("does not search outside through a link", async () => {
    symlinkSync("/etc", join(workspace.root, "etc"));
    expect(await grep({ pattern: "root", path: "etc" })).toMatch(/^ERROR .*lies outside/);
    expect(await grep({ pattern: "root:" })).toMatch(/^No match/);
  });

  it("is bounded by lines and bytes, and says what is missing", async () => {
    workspace.put("many.txt", "needle\n".repeat(5000));
    const lines = (await grep({ pattern: "needle" })).split("\n");
    expect(lines).toHaveLength(202);
    expect(lines.at(-2)).toBe("[The first 200 of 5,000 lines. Narrow the search with path, glob or type, or use mode files or count.]");
    workspace.put("wide.txt", `wide ${"x".repeat(400)}\n`.repeat(2000));
    expect(Buffer.byteLength(await grep({ pattern: "wide", path: "wide.txt", limit: 2000 }))).toBeLessThan(45 * 1024);
    workspace.put("endless.txt", `start ${"y".repeat(3_000_000)}`);
    expect((await grep({ pattern: "start", path: "endless.txt" })).length).toBeLessThan(700);
    workspace.put("flood.txt", "flood\n".repeat(400_000));
    expect(await grep({ pattern: "flood", path: "flood.txt" })).toMatch(/The first 200 of very many lines/);
  });
});

describe("grep without ripgrep", () => {
  it("finds the same", async () => {
    using bare = createToolWorkspace({ ripgrep: false });
    bare.put("a.txt", "x\ny\n");
    bare.put("node_modules/m.js", "x\n");
    expect(await bare.say("grep", { pattern: "x|y" })).toMatch(/^a\.txt:1:x\na\.txt:2:y\n\[Left out, .*node_modules\//);
  });
});
