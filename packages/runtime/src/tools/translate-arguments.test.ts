import { describe, expect, it } from "vitest";
import { createToolRegistry, defineTool, prepareCall, type Tool } from "./index.ts";

function tool(name: string, ...arguments_: readonly string[]): Tool {
  const properties = Object.fromEntries(arguments_.map((argument) => [argument, {}]));
  return defineTool({
    name,
    description: "",
    input: { type: "object", properties, additionalProperties: false } as never,
    execute: () => 1,
  }) as Tool;
}
const TOOLS = [
  tool("bash", "command", "timeout_seconds", "run_in_background"),
  tool("read_file", "path", "offset", "limit"),
  tool("write_file", "path", "content"),
  tool("edit_file", "path", "old_string", "new_string", "replace_all"),
  tool("grep", "pattern", "path", "mode", "ignore_case"),
  tool("list_directory", "path"),
];

/** The tool that a call is of, and its arguments; the message to the model if there is none. */
async function call(name: string, input: object, tools = TOOLS) {
  const found = createToolRegistry(tools).find(name, input as never);
  if (!found.ok) return found.failure.message;
  const prepared = await prepareCall(found.tool, { input: input as never });
  return [found.tool.name, prepared.ok ? prepared.input : prepared.message];
}

describe("a call in the words of another coding agent", () => {
  it.each([
    ["Bash", { cmd: "ls" }, "bash", { command: "ls" }],
    ["Bash", { command: "ls", timeout: 1500, description: "Lists files" }, "bash", { command: "ls", timeout_seconds: 2 }],
    ["shell", { command: ["bash", "-lc", "ls"] }, "bash", { command: "ls" }],
    ["run_shell_command", { command: "ls", description: "x" }, "bash", { command: "ls" }],
    ["Edit", { file_path: "a", old_string: "x", new_string: "y" }, "edit_file", { path: "a", old_string: "x", new_string: "y" }],
    ["edit_file", { file_path: "a", old_str: "x", new_str: "y" }, "edit_file", { path: "a", old_string: "x", new_string: "y" }],
    [
      "str_replace_editor",
      { command: "str_replace", path: "a", old_str: "x", new_str: "y" },
      "edit_file",
      { path: "a", old_string: "x", new_string: "y" },
    ],
    ["str_replace_editor", { command: "view", path: "a", view_range: [3, 9] }, "read_file", { path: "a", offset: 3, limit: 7 }],
    ["str_replace_based_edit_tool", { command: "create", path: "a", file_text: "x" }, "write_file", { path: "a", content: "x" }],
    ["Read", { file_path: "a", offset: 2 }, "read_file", { path: "a", offset: 2 }],
    ["Write", { file_path: "a", content: "x" }, "write_file", { path: "a", content: "x" }],
    [
      "Grep",
      { "pattern": "x", "output_mode": "files_with_matches", "-i": true },
      "grep",
      { pattern: "x", mode: "files", ignore_case: true },
    ],
    ["LS", { path: "." }, "list_directory", { path: "." }],
  ])("is a call of our tool with our arguments: %s %j", async (name, input, tool, translated) => {
    expect(await call(name, input)).toEqual([tool, translated]);
  });

  it("goes to a tool of that literal name first, and to one under another name for the same", async () => {
    const own = [tool("Bash", "cmd"), tool("bash", "command")];
    expect(await call("Bash", { cmd: "ls" }, own)).toEqual(["Bash", { cmd: "ls" }]);
    expect(await call("bash", { cmd: "ls" }, own)).toEqual(["bash", { command: "ls" }]);
    expect(await call("run_shell_command", { cmd: "ls" }, [tool("Bash", "command")])).toEqual(["Bash", { command: "ls" }]);
  });

  it("keeps members that the schema knows, and those that nothing is known of", async () => {
    expect(await call("bash", { cmd: "ls", command: "pwd" })).toEqual(["bash", expect.stringContaining("cmd")]);
    expect(await call("bash", { comand: "ls" })).toEqual(["bash", expect.stringContaining("comand")]);
    const open = defineTool({
      name: "bash",
      description: "",
      input: { type: "object", properties: { command: {} }, additionalProperties: true } as never,
      execute: () => 1,
    });
    expect(await call("bash", { cmd: "ls" }, [open as Tool])).toEqual(["bash", { cmd: "ls" }]);
  });

  it("of another form than ours has no tool, and names the one to use", async () => {
    for (const name of ["apply_patch", "NotebookEdit"]) expect(await call(name, { patch: "" })).toMatch(/Did you mean "edit_file"\?/);
    expect(await call("str_replace_editor", { command: "insert", path: "a" })).toMatch(
      /There is no tool "str_replace_editor"\. Did you mean "edit_file"/,
    );
    expect(await call("Edit", {}, [tool("look")])).toMatch(/There is no tool "Edit"/);
  });
});
