import { execFileSync } from "node:child_process";
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
    expect(await glob({ pattern: "**/*.{ts,log}" })).toBe(
      "keep/a.log\nsrc/z.ts\n[Left out, because git ignores them: a.log, keep/b.log, out/, src/gen/. Give one as path to search it.]",
    );
    expect(await glob({ pattern: "*.log", path: "keep" })).toMatch(/^keep\/a\.log\n/);
  });

  it("leaves out dependencies, says so, and finds them if they are named", async () => {
    put("node_modules/m/index.js", "src/index.js", ".git/hooks/index.js");
    expect(await glob({ pattern: "**/index.js" })).toBe(
      "src/index.js\n[Left out, because they hold dependencies: node_modules/. Give one as path to search it.]",
    );
    expect(await glob({ pattern: "node_modules/m/*" })).toBe("node_modules/m/index.js");
    expect(await glob({ pattern: "**/*.js", path: "node_modules/m" })).toBe("node_modules/m/index.js");
    expect(await glob({ pattern: ".git/hooks/*" })).toBe(".git/hooks/index.js");
  });

  it("finds files in folders named build, vendor and dist, also where git ignores the folder and tracks the file", async () => {
    execFileSync("git", ["init"], { cwd: workspace.root, stdio: "ignore" });
    workspace.put(".gitignore", "build\n");
    put("build/a.ts", "vendor/a.ts", "dist/a.ts", "target/a.ts");
    execFileSync("git", ["add", "--force", "build/a.ts"], { cwd: workspace.root });
    put("build/b.ts");
    expect(await glob({ pattern: "**/*.ts" })).toBe(
      "build/a.ts\ndist/a.ts\ntarget/a.ts\nvendor/a.ts\n[Left out, because git ignores them: build/b.ts. Give one as path to search it.]",
    );
  });

  it("finds a file whose real name holds brackets", async () => {
    put("app/[slug]/page.tsx", "app/[[...rest]]/page.tsx", "app/s/page.tsx");
    expect(await glob({ pattern: "app/[slug]/*.tsx" })).toBe("app/[slug]/page.tsx\napp/s/page.tsx");
    expect(await glob({ pattern: "app/[[...rest]]/*.tsx" })).toBe("app/[[...rest]]/page.tsx");
    expect(await glob({ pattern: "app/[[...none]]/*.tsx" })).toMatch(/^ERROR The glob .* is not searched for/);
  });

  it("shows a name with the end of a line as one line", async () => {
    put("a\nb.ts", "c.ts");
    expect(await glob({ pattern: "*.ts" })).toBe('"a\\nb.ts"\nc.ts');
    expect(await workspace.say("list_directory", {})).toBe('"a\\nb.ts"  (1 B)\nc.ts  (1 B)');
  });

  it("leaves out what the rules of the run guard, and says so", async () => {
    put("a.ts", "secret.ts");
    expect(await workspace.say("glob", { pattern: "*.ts" }, { mayRead: (path) => path !== "secret.ts" })).toBe(
      "a.ts\n[Left out, since the permission rules guard them: secret.ts. Name one as path to ask for it.]",
    );
  });

  it("does not follow links", async () => {
    put("src/a.ts");
    symlinkSync("..", join(workspace.root, "src/up"));
    symlinkSync("/etc", join(workspace.root, "etc"));
    expect(await glob({ pattern: "**/*" })).toBe("etc\nsrc/\nsrc/a.ts\nsrc/up");
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
    workspace.put(".gitignore", "dist\n");
    expect(await glob({ pattern: "*.ts" })).toBe("No file matches *.ts in the project. To look in all folders use **/*.ts.");
    expect(await glob({ pattern: "**/*.css" })).toMatch(/^No file matches .*\n\[Left out, because git ignores them: dist\/\./);
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
