import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());
const grep = (input: Parameters<ToolWorkspace["say"]>[1]) => workspace.say("grep", input);

describe("grep", () => {
  beforeEach(() => {
    workspace.put("src/a.ts", "const one = 1;\nconst two = one;\n");
    workspace.put("src/b.py", "One = 1\n");
    workspace.put("node_modules/m.js", "const one = 1;\n");
    workspace.put(".env.example", "one=1\n");
    workspace.put("out/gen.ts", "const one = 1;\n");
    workspace.put(".gitignore", "out\n");
  });

  it("shows matching lines with path and number, sorted, without what git ignores", async () => {
    expect(await grep({ pattern: "one" })).toBe(".env.example:1:one=1\nsrc/a.ts:1:const one = 1;\nsrc/a.ts:2:const two = one;");
  });

  it("names files, or counts lines", async () => {
    expect(await grep({ pattern: "one", mode: "files", path: "src" })).toBe("src/a.ts");
    expect(await grep({ pattern: "one", mode: "count", ignore_case: true, path: "src" })).toBe("src/a.ts:2\nsrc/b.py:1");
  });

  it("narrows by path, glob and type", async () => {
    expect(await grep({ pattern: "one", path: "src/a.ts", context: 0 })).toMatch(/^src\/a.ts:1:/);
    expect(await grep({ pattern: "one", glob: "*.{ts,py}", ignore_case: true, mode: "files" })).toBe("src/a.ts\nsrc/b.py");
    expect(await grep({ pattern: "one", type: "py", ignore_case: true })).toBe("src/b.py:1:One = 1");
    expect(await grep({ pattern: "one", path: "node_modules" })).toMatch(/m\.js:1:/);
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
    expect(await grep({ pattern: "a(b", fixed: true })).toBe("x.txt:1:a(b");
    expect(await grep({ pattern: "--version" })).toBe("x.txt:2:--version");
  });

  it("says that nothing matches", async () => {
    expect(await grep({ pattern: "nowhere", glob: "*.ts" })).toBe("No match for nowhere in files like *.ts.");
    expect(await grep({ pattern: "one", type: "nosuch" })).toBe("No match for one of type nosuch.");
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
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe("[The first 200 of 5,000 lines. Narrow the search with path, glob or type, or use mode files or count.]");
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
    expect(await bare.say("grep", { pattern: "x|y" })).toBe("a.txt:1:x\na.txt:2:y");
  });
});
