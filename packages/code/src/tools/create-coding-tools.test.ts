import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { createProcessExecutor } from "keelson/environment";
import { createToolRegistry } from "keelson/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { createCodingTools } from "./create-coding-tools.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());

describe("the tools of the coding agent", () => {
  it("come in the order of their names", () => {
    expect(workspace.tools.map((tool) => tool.name)).toEqual([
      "apply_patch",
      "bash",
      "bash_output",
      "change_dir",
      "edit_file",
      "glob",
      "grep",
      "kill_bash",
      "list_directory",
      "read_file",
      "search_replace",
      "update_tasks",
      "write_file",
    ]);
  });

  it("include the one that presents plans only if a person can be asked", () => {
    const named = createCodingTools({ exec: createProcessExecutor({ cwd: workspace.root }), presentsPlans: true });
    expect(named.map(({ name }) => name)).toEqual(
      workspace.tools
        .map(({ name }) => name)
        .concat("present_plan")
        .toSorted(),
    );
    const plan = named.find(({ name }) => name === "present_plan");
    expect([plan?.effect, plan?.risk, plan?.concurrency]).toEqual(["read", "none", "exclusive"]);
  });

  it("say what they do to the world", () => {
    expect(
      workspace.tools.map(({ name, effect, risk, category, concurrency }) => [name, effect, risk, category ?? "", concurrency]),
    ).toEqual([
      ["apply_patch", "write", "medium", "edit", "exclusive"],
      ["bash", "write", "high", "shell", "exclusive"],
      ["bash_output", "read", "none", "", "shared"],
      ["change_dir", "read", "none", "", "shared"],
      ["edit_file", "write", "medium", "edit", "exclusive"],
      ["glob", "read", "none", "", "shared"],
      ["grep", "read", "none", "", "shared"],
      ["kill_bash", "idempotent", "low", "", "exclusive"],
      ["list_directory", "read", "none", "", "shared"],
      ["read_file", "read", "none", "", "shared"],
      ["search_replace", "write", "medium", "edit", "exclusive"],
      ["update_tasks", "read", "none", "", "exclusive"],
      ["write_file", "write", "medium", "edit", "exclusive"],
    ]);
  });

  it.each([
    ["create_file", "write_file"],
    ["find_files", "glob"],
    ["run_command", "bash"],
    ["terminal", "bash"],
    ["ls", "list_directory"],
    ["cd", "change_dir"],
    ["search", "grep"],
  ])("are also found as %s: %s", (alias, name) => {
    const found = workspace.tools.find((tool) => tool.aliases.includes(alias));
    expect(found?.name).toBe(name);
    expect(createToolRegistry(workspace.tools)).toBeDefined();
  });

  it("describe every argument", () => {
    for (const tool of workspace.tools) {
      const { properties, additionalProperties } = tool.inputSchema as unknown as {
        properties: { [name: string]: { description: string } };
        additionalProperties: boolean;
      };
      expect(additionalProperties).toBe(false);
      for (const property of Object.values(properties)) expect(property.description.length).toBeGreaterThan(10);
    }
  });
});

describe("what permission rules see of a path", () => {
  const seen = async (tool: string, path: string): Promise<string | undefined> => {
    const { effectsOf, permissionText } = workspace.tool(tool);
    return permissionText?.({ path }, await effectsOf?.({ path }, { context: workspace.context }));
  };

  it("is where it leads, relative to the project, however it is written", async () => {
    workspace.put("secrets/key.txt", "x");
    symlinkSync("secrets", join(workspace.root, "harmless"));
    for (const path of [
      "secrets/key.txt",
      "./secrets//key.txt",
      "a/../secrets/key.txt",
      join(workspace.root, "secrets/key.txt"),
      "harmless/key.txt",
    ]) {
      for (const tool of ["read_file", "write_file", "edit_file"]) expect(await seen(tool, path)).toBe("secrets/key.txt");
    }
    expect(await seen("write_file", "harmless/new/file.txt")).toBe("secrets/new/file.txt");
    expect(await seen("grep", "harmless")).toBe("secrets");
    expect(workspace.tool("glob").permissionText?.({ pattern: "*" })).toBe(".");
  });

  it("is the path itself when it leads outside", async () => {
    expect(await seen("read_file", "../other/file.txt")).toBe("../other/file.txt");
    expect(await seen("read_file", "/etc//passwd")).toBe("/etc/passwd");
  });
});
