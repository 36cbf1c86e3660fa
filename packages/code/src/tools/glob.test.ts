import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());
const glob = (input: Parameters<ToolWorkspace["say"]>[1]) => workspace.say("glob", input);
const put = (...paths: readonly string[]) => {
  for (const path of paths) workspace.put(path, "x");
};

describe("glob", () => {
  it("finds paths in order, folders with a slash, relative to the project wherever it starts", async () => {
    put("src/b.ts", "src/a/c.ts", "src/a.ts", "readme.md");
    expect(await glob({ pattern: "**/*.ts" })).toBe("src/a/c.ts\nsrc/a.ts\nsrc/b.ts");
    expect(await glob({ pattern: "*", path: "src" })).toBe("src/a/\nsrc/a.ts\nsrc/b.ts");
    expect(await glob({ pattern: join(workspace.root, "src/*.ts") })).toBe("src/a.ts\nsrc/b.ts");
  });

  it("leaves out what git ignores, the nearest .gitignore deciding", async () => {
    put("a.log", "keep/a.log", "keep/b.log", "out/x.ts", "src/gen/y.ts", "src/z.ts");
    workspace.put(".gitignore", "*.log\n/out/\n");
    workspace.put("keep/.gitignore", "!a.log\n");
    workspace.put("src/.gitignore", "gen\n");
    expect(await glob({ pattern: "**/*.{ts,log}" })).toBe("keep/a.log\nsrc/z.ts");
    expect(await glob({ pattern: "*.log", path: "keep" })).toBe("keep/a.log");
  });

  it("leaves out folders of dependencies and results, unless they are named", async () => {
    put("node_modules/m/index.js", "dist/index.js", "src/index.js", ".git/hooks/index.js");
    expect(await glob({ pattern: "**/index.js" })).toBe("src/index.js");
    expect(await glob({ pattern: "dist/**" })).toBe("dist/index.js");
    expect(await glob({ pattern: "**/*.js", path: "node_modules/m" })).toBe("node_modules/m/index.js");
  });

  it("does not follow links", async () => {
    put("src/a.ts");
    symlinkSync("..", join(workspace.root, "src/up"));
    symlinkSync("/etc", join(workspace.root, "etc"));
    expect(await glob({ pattern: "**/*" })).toBe("etc\nsrc/\nsrc/a.ts\nsrc/up/");
  });

  it("is bounded, and says so", async () => {
    put(...Array.from({ length: 12 }, (_, index) => `f${index}.ts`));
    const lines = (await glob({ pattern: "*.ts", limit: 10 })).split("\n");
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toMatch(/Only the first 10/);
    expect((await glob({ pattern: "*.ts", limit: 12 })).split("\n")).toHaveLength(12);
  });

  it("helps when nothing matches", async () => {
    put("src/a.ts", "dist/b.css");
    expect(await glob({ pattern: "*.ts" })).toBe("No file matches *.ts in the project. To look in all folders use **/*.ts.");
    expect(await glob({ pattern: "**/*.css" })).toMatch(/Not searched: dist; name one in the pattern/);
    expect(await glob({ pattern: "/etc/*" })).toMatch(/^ERROR The pattern \/etc\/\* is absolute/);
    expect(await glob({ pattern: "*", path: "srcs" })).toMatch(/Did you mean src\?/);
    expect(await glob({ pattern: "*", path: "../.." })).toMatch(/^ERROR .*lies outside/);
    expect(await glob({ pattern: "{a,b}".repeat(20) })).toMatch(/^ERROR .*alternatives/);
  });
});

describe("list_directory", () => {
  it("lists folders first, then files with their size", async () => {
    put("b/x", "a.txt");
    workspace.put("big.bin", Buffer.alloc(1_500_000));
    expect(await workspace.say("list_directory", {})).toBe("b/\na.txt  (1 B)\nbig.bin  (1.4 MiB)");
    expect(await workspace.say("list_directory", { path: "b" })).toBe("x  (1 B)");
  });

  it("says what is wrong with a path", async () => {
    put("folder/a.txt");
    expect(await workspace.say("list_directory", { path: "foldr" })).toMatch(/Did you mean folder\?/);
    expect(await workspace.say("list_directory", { path: "folder/a.txt" })).toMatch(/^ERROR .*file where a folder is needed/);
    expect(await workspace.say("list_directory", { path: "/" })).toMatch(/lies outside/);
  });

  it("is bounded", async () => {
    put(...Array.from({ length: 1005 }, (_, index) => `f${index}`));
    expect(await workspace.say("list_directory", {})).toMatch(/and 5 more\. Narrow it with glob\.\]$/);
  });
});
