import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { createSearchReplaceTool } from "./search-replace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace({ ripgrep: false });
});
afterEach(() => workspace[Symbol.dispose]());
const replace = (
  input: { readonly [name: string]: string | boolean | number },
  changes?: Parameters<ToolWorkspace["say"]>[2],
): Promise<string> => workspace.say("search_replace", input, changes);
const effects = (input: { readonly [name: string]: string | boolean }): Promise<CallEffects> =>
  Promise.resolve(workspace.tool("search_replace").effectsOf?.(input as never, { context: workspace.context }) ?? {});

describe("search_replace [TC-25]", () => {
  it("replaces a text in all files, keeps their line ends and encodings, and counts by file", async () => {
    workspace.put("src/a.ts", "old(1);\r\nold(2);\r\n");
    workspace.put("src/b.ts", "new(old);\n");
    workspace.put("src/c.ts", "none\n");
    workspace.put("src/wide.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("ä old", "utf16le")]));
    expect(await replace({ search: "old", replace: "ölt" })).toBe(
      "Replaced 4 matches in 3 files:\nsrc/a.ts: 2\nsrc/b.ts: 1\nsrc/wide.txt: 1",
    );
    expect(workspace.text("src/a.ts")).toBe("ölt(1);\r\nölt(2);\r\n");
    expect(await workspace.say("read_file", { path: "src/wide.txt" })).toContain("ä ölt");
  });

  it("takes the search as it is unless it is a regular expression, in which groups can be used", async () => {
    workspace.put("a.ts", "f(a.b) f(axb)\n");
    await replace({ search: "a.b", replace: "$1", path: "a.ts" });
    expect(workspace.text("a.ts")).toBe("f($1) f(axb)\n");
    workspace.put("a.ts", "get('x', 1)\nget('y', 2)\n");
    await replace({ search: "get\\('(\\w)', (?P<n>\\d)\\)$", replace: "fetch(${n}, $1, $$)", regex: true });
    expect(workspace.text("a.ts")).toBe("fetch(1, x, $)\nfetch(2, y, $)\n");
    await replace({ search: "^FETCH", replace: "> $&", regex: true, ignore_case: true });
    expect(workspace.text("a.ts")).toBe("> fetch(1, x, $)\n> fetch(2, y, $)\n");
  });

  it("refuses an expression or a replacement that cannot be used", async () => {
    workspace.put("a.ts", "a\n");
    expect(await replace({ search: "(a)(?=b)", replace: "x", regex: true })).toMatch(/^ERROR The regular expression cannot be used.*RE2/);
    expect(await replace({ search: "a", replace: "$2", regex: true })).toMatch(/^ERROR The replacement names the group 2/);
    expect(await replace({ search: "", replace: "x" })).toMatch(/^ERROR search is empty/);
    expect(await replace({ search: "zzz", replace: "x" })).toMatch(/^ERROR Nothing matches in 1 file that were searched/);
  });

  it("finds an end on expressions that make other engines hang, and stops one that takes too long", async () => {
    workspace.put("a.ts", `${"a".repeat(100_000)}!\n`);
    expect(await replace({ search: "(a+)+$", replace: "x", regex: true })).toMatch(/^ERROR Nothing matches/);
    let now = 0;
    const tool = createSearchReplaceTool({ now: () => (now += 15_000) });
    await expect(tool.execute({ search: "a", replace: "b" }, workspace.toolCall())).rejects.toThrow(
      /took more than 20 s and was stopped; nothing was changed/,
    );
    expect(workspace.text("a.ts")).toMatch(/^aaa/);
  });

  it("only counts in a dry run", async () => {
    workspace.put("a.ts", "x x\n");
    expect(await replace({ search: "x", replace: "y", dry_run: true })).toBe("Would replace 2 matches in 1 file:\na.ts: 2");
    expect(workspace.text("a.ts")).toBe("x x\n");
  });

  it("changes at most so many files, and none if there are more", async () => {
    for (const name of ["a", "b", "c"]) workspace.put(`${name}.ts`, "x\n");
    expect(await replace({ search: "x", replace: "y", max_files: 2 })).toMatch(
      /^ERROR There are 3 matches in 3 files, which is more files than max_files \(2\)/,
    );
    expect(["a", "b", "c"].map((name) => workspace.text(`${name}.ts`))).toEqual(["x\n", "x\n", "x\n"]);
    expect(await replace({ search: "x", replace: "y", glob: "[ab].ts" })).toMatch(/^Replaced 2 matches in 2 files/);
  });

  it("changes none if one file may not be changed", async () => {
    workspace.put("a.ts", "x\n");
    workspace.put("b.ts", "x\n");
    chmodSync(join(workspace.root, "b.ts"), 0o444);
    expect(await replace({ search: "x", replace: "y" })).toMatch(/^ERROR .*b\.ts is read-only/);
    expect(workspace.text("a.ts")).toBe("x\n");
  });

  it("leaves out ignored and binary files, and says which ones rules guard", async () => {
    workspace.put(".gitignore", "build\n");
    workspace.put("build/a.ts", "x\n");
    workspace.put("b.bin", Buffer.from([0, 120, 0]));
    workspace.put("secret.ts", "x\n");
    workspace.put("c.ts", "x\n");
    expect(await replace({ search: "x", replace: "y" }, { mayRead: (path) => !path.includes("secret") })).toMatch(
      /^Replaced 1 match in 1 file:\nc\.ts: 1\n\[Left out, because git ignores them: build\/.*\n\[Left out, since the permission rules guard them: secret\.ts.*\n\[Binary files .*: b\.bin/,
    );
    expect(workspace.text("build/a.ts")).toBe("x\n");
    expect(workspace.text("secret.ts")).toBe("x\n");
  });

  it("is judged by the files that it may change; a dry run is a read", async () => {
    workspace.put("src/a.ts", "x\n");
    workspace.put("src/b.md", "x\n");
    expect(await effects({ search: "x", replace: "y", glob: "*.ts" })).toEqual({ reads: ["src/a.ts"], writes: ["src/a.ts"] });
    expect(await effects({ search: "x", replace: "y", path: "src", dry_run: true })).toEqual({
      reads: ["src/a.ts", "src/b.md"],
      commands: [],
    });
    expect((await effects({ search: "x", replace: "y", path: "nowhere" })).mayTouch).toEqual(["nowhere/*"]);
  });

  it("knows after a crash whether it can be made again", async () => {
    const reconcile = (input: { readonly search: string; readonly replace: string }) =>
      workspace.tool("search_replace").reconcile?.(input, workspace.toolCall());
    workspace.put("a.ts", "x\n");
    workspace.put("b.ts", "y\n");
    expect(await reconcile({ search: "x", replace: "y" })).toBe("not-done");
    await replace({ search: "x", replace: "y" });
    expect(await reconcile({ search: "x", replace: "y" })).toEqual({ output: "Replaced all matches." });
    expect(await reconcile({ search: "y", replace: "yy" })).toBe("unknown");
  });
});
