import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { CallEffects, JsonValue } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
let home: string;
beforeEach(() => {
  workspace = createToolWorkspace();
  // Below the project, because a folder elsewhere would have to be added first.
  mkdirSync(join(workspace.root, "home-of-ada"));
  home = realpathSync(join(workspace.root, "home-of-ada"));
  vi.stubEnv("HOME", home);
  workspace.put("home-of-ada/notes/a.txt", "at home\n");
  workspace.put("~/notes/a.txt", "in the project\n");
  workspace.put("sub/~draft.txt", "a draft\n");
});
afterEach(() => {
  vi.unstubAllEnvs();
  workspace[Symbol.dispose]();
});

const say = (name: string, input: JsonValue, kept: { readonly [name: string]: JsonValue } = {}): Promise<string> =>
  workspace.say(name, input, { kept, cwd: workspace.root });
const effects = async (name: string, input: object, kept = {}): Promise<CallEffects | undefined> =>
  workspace.tool(name).effectsOf?.(input, { cwd: workspace.root, kept, context: workspace.context });

const PATCH = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+new\n*** End Patch`;

describe.each([{}, { directory: "sub" }])("with what the session keeps %j, a path that begins with ~/", (kept) => {
  it("is in the home folder of the user for every tool, and permissions see the path that it leads to", async () => {
    const cases: readonly (readonly [string, object, keyof CallEffects])[] = [
      ["read_file", { path: "~/notes/a.txt" }, "reads"],
      ["list_directory", { path: "~/notes" }, "reads"],
      ["grep", { pattern: "home", path: "~/notes" }, "reads"],
      ["glob", { pattern: "*", path: "~/notes" }, "reads"],
      ["change_dir", { path: "~/notes" }, "reads"],
      ["edit_file", { path: "~/notes/a.txt", old_string: "at", new_string: "at" }, "writes"],
      ["write_file", { path: "~/notes/a.txt", content: "x" }, "writes"],
      ["apply_patch", { input: PATCH("~/notes/b.txt") }, "writes"],
      ["apply_patch", { input: PATCH("b.txt"), folder: "~/notes" }, "writes"],
      ["search_replace", { pattern: "a", replacement: "b", path: "~/notes" }, "reads"],
    ];
    for (const [name, input, kind] of cases) {
      const paths = (await effects(name, input, kept))?.[kind] as readonly string[];
      expect([name, paths[0]]).toEqual([name, expect.stringMatching(/^home-of-ada\/notes/)]);
    }
    expect(await say("read_file", { path: "~/notes/a.txt" }, kept)).toContain("at home");
    await say("apply_patch", { input: PATCH("~/notes/b.txt") }, kept);
    await say("write_file", { path: "~/notes/c.txt", content: "c\n" }, kept);
    expect([readFileSync(join(home, "notes/b.txt"), "utf8"), readFileSync(join(home, "notes/c.txt"), "utf8")]).toEqual(["new\n", "c\n"]);
  });

  it("is an error with the remedy if HOME names no folder, for every tool, and nothing is read or written", async () => {
    for (const value of ["", "home"]) {
      vi.stubEnv("HOME", value);
      for (const [name, input] of [
        ["read_file", { path: "~/notes/a.txt" }],
        ["list_directory", { path: "~" }],
        ["write_file", { path: "~/notes/new.txt", content: "x" }],
        ["apply_patch", { input: PATCH("~/notes/new.txt") }],
      ] as const)
        expect(await say(name, input, kept)).toMatch(
          /in the home folder, and HOME names none: give an absolute path\. A folder that is named ~ is \.\/~/,
        );
    }
  });
});

describe("a name in the project that begins with ~", () => {
  it("is reached with ./, is shown so, and is judged as a file of the project", async () => {
    expect(await say("read_file", { path: "./~/notes/a.txt" })).toContain("in the project");
    expect((await effects("read_file", { path: "./~/notes/a.txt" }))?.reads).toEqual(["./~/notes/a.txt"]);
    expect((await say("glob", { pattern: "**/a.txt", path: "." })).split("\n")).toContain("./~/notes/a.txt");
    expect(await say("grep", { pattern: "in the project", path: "." })).toContain("./~/notes/a.txt");
  });

  it("that is longer than ~ is relative to the working directory, as any other", async () => {
    expect(await say("read_file", { path: "~draft.txt" }, { directory: "sub" })).toContain("a draft");
    expect((await effects("read_file", { path: "~draft.txt" }, { directory: "sub" }))?.reads).toEqual(["sub/~draft.txt"]);
  });

  it("is no pattern of glob for the home folder", async () => {
    expect(await say("glob", { pattern: "~/notes/*" })).toMatch(/^ERROR .*Give the folder as path/);
  });
});
