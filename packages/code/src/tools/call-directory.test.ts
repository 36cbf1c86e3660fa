import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { CallEffects, JsonValue } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
/** What the session keeps: a call sees what was kept before it. */
let kept: { [name: string]: JsonValue };
beforeEach(() => {
  workspace = createToolWorkspace();
  kept = {};
  workspace.put("sub/deep/a.txt", "inner\n");
  workspace.put("a.txt", "outer\n");
});
afterEach(() => workspace[Symbol.dispose]());

const say = (name: string, input: JsonValue): Promise<string> =>
  workspace.say(name, input, { kept: { ...kept }, cwd: workspace.root, keep: (key, value) => void (kept[key] = value) });
const bash = (command: string, more: object = {}): Promise<string> => say("bash", { command, ...more });
const effects = async (name: string, input: object): Promise<CallEffects | undefined> =>
  workspace.tool(name).effectsOf?.(input, { cwd: workspace.root, kept, context: workspace.context });

describe("a cd in a command that succeeded", () => {
  it("lasts for later commands and is said [TC-01] [TC-02]", async () => {
    expect(await bash("cd sub && pwd")).toMatch(/\[the working directory is now sub: commands and relative paths/);
    expect(await bash("cd deep; pwd")).toMatch(new RegExp(`^${workspace.root}/sub/deep\n`));
    expect(await bash("cat a.txt")).toMatch(/^inner\n/);
    expect(await bash("cd ../..")).toContain("is now the project's root");
    expect(await bash("cat a.txt")).toMatch(/^outer\n/);
  });

  it.each(["cd sub; false", "(cd sub)", "cd sub | cat", "cd sub; exit 3", "exec true", "cd sub &", "cd nowhere"])(
    "is not one in %j, after which commands start where they did",
    async (command) => {
      expect(await bash(command)).not.toContain("the working directory is now");
      expect(kept["directory"]).toBe(undefined);
    },
  );

  it("that leads out of the project does not count, which is said, also where a link leads out", async () => {
    symlinkSync("/tmp", join(workspace.root, "out"));
    await bash("cd sub");
    for (const command of ["cd /", "cd ../../..", "cd ../out"])
      expect(await bash(command)).toMatch(/is outside of the project: your next commands start in sub as before\]$/);
    expect(await bash("pwd")).toMatch(new RegExp(`^${workspace.root}/sub\n`));
  });

  it("into a folder that is gone later does not let a command run elsewhere", async () => {
    await bash("cd sub/deep");
    rmSync(join(workspace.root, "sub"), { recursive: true });
    expect(await bash("touch here")).toBe(
      "Not run: the working directory sub/deep is gone. Commands start in the project's root again; call this again if it fits there.",
    );
    expect(await bash("pwd")).toMatch(new RegExp(`^${workspace.root}\n`));
  });
});

describe("the working directory", () => {
  it("is moved by change_dir, relative to itself, and stays for a file, a missing folder and one outside [TC-25]", async () => {
    expect(await say("change_dir", { path: "sub" })).toBe(`The working directory is now ${workspace.root}/sub.`);
    expect(await say("change_dir", { path: "deep" })).toBe(`The working directory is now ${workspace.root}/sub/deep.`);
    expect(await say("change_dir", { path: "a.txt" })).toMatch(/^ERROR .*is not a folder/);
    expect(await say("change_dir", { path: "nowhere" })).toMatch(/^ERROR No such file or folder/);
    expect(await say("change_dir", { path: "../../.." })).toMatch(/^ERROR /);
    expect(kept["directory"]).toBe("sub/deep");
    await say("change_dir", { path: "../.." });
    expect(kept["directory"]).toBe(".");
  });

  it("is where relative paths of all tools start, and what permissions see of them", async () => {
    await say("change_dir", { path: "sub/deep" });
    expect(await say("read_file", { path: "a.txt" })).toContain("inner");
    expect(await say("list_directory", {})).toContain("a.txt");
    expect(await say("glob", { pattern: "*.txt" })).toMatch(/a\.txt/);
    expect(await say("grep", { pattern: "outer" })).toMatch(/^No match/);
    expect(await say("write_file", { path: "new.txt", content: "new\n" })).toContain("sub/deep/new.txt");
    expect(workspace.text("sub/deep/new.txt")).toBe("new\n");
    await say("edit_file", { path: "a.txt", old_string: "inner", new_string: "changed" });
    expect([workspace.text("sub/deep/a.txt"), workspace.text("a.txt")]).toEqual(["changed\n", "outer\n"]);
    expect(await say("read_file", { path: join(workspace.root, "a.txt") })).toContain("outer");
    const patch = (path: string): object => ({ input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` });
    expect(await effects("apply_patch", patch("p.txt"))).toMatchObject({ writes: ["sub/deep/p.txt"] });
    expect(await effects("apply_patch", { ...patch("p.txt"), folder: ".." })).toMatchObject({ writes: ["sub/p.txt"] });
    await say("apply_patch", patch("p.txt") as JsonValue);
    expect(workspace.text("sub/deep/p.txt")).toBe("x\n");
    expect(await effects("edit_file", { path: "a.txt" })).toMatchObject({ writes: ["sub/deep/a.txt"] });
    expect(await effects("write_file", { path: "../b" })).toMatchObject({ writes: ["sub/b"] });
    expect(await effects("bash", { command: "rm a.txt; touch ../b" })).toMatchObject({
      writes: [join(workspace.root, "sub/deep/a.txt"), join(workspace.root, "sub/b")],
    });
    expect((await effects("bash", { command: "cat ../../../x" }))?.reads).toEqual([join(workspace.root, "..", "x")]);
  });

  it("of a session that was written by something else never leads out of the project", async () => {
    mkdirSync(join(workspace.root, "..", "beside"), { recursive: true });
    for (const path of ["..", "/", "sub/../..", 7, null]) {
      kept["directory"] = path as JsonValue;
      expect(await bash("pwd")).toMatch(new RegExp(`^${workspace.root}\n`));
    }
  });
});
