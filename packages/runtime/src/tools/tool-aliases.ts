import type { JsonObject } from "@keelson/protocol";

/** A tool under the name that another coding agent gives it. */
export interface ToolAlias {
  /** The name there. */
  readonly name: string;
  /** The name of the tool here. */
  readonly tool: string;
  /** Arguments that have another name there, by their name here. */
  readonly arguments?: { readonly [here: string]: string };
  /** Arguments that every call there has, which distinguish it from calls of the same name that mean another tool. */
  readonly fixed?: JsonObject;
  /** Arguments there that have no counterpart here and change nothing about what a call does. */
  readonly ignored?: readonly string[];
  /** True if calls there have another form than here: then only rules and matchers understand the name. */
  readonly isNameOnly?: true;
}

const FILE = { path: "file_path" };

/** One table for calls of models, matchers of hooks, permission rules and settings. If several rows have one name, the first is the usual meaning. */
export const TOOL_ALIASES: readonly ToolAlias[] = [
  { name: "Bash", tool: "bash", arguments: { timeout_seconds: "timeout" }, ignored: ["description"] },
  { name: "Read", tool: "read_file", arguments: FILE },
  { name: "Edit", tool: "edit_file", arguments: FILE },
  { name: "MultiEdit", tool: "edit_file", arguments: FILE },
  { name: "Write", tool: "write_file", arguments: FILE },
  { name: "NotebookRead", tool: "read_file", arguments: { path: "notebook_path" }, isNameOnly: true },
  { name: "NotebookEdit", tool: "edit_file", arguments: { path: "notebook_path" }, isNameOnly: true },
  { name: "Grep", tool: "grep", arguments: { mode: "output_mode", ignore_case: "-i", context: "-C", limit: "head_limit" } },
  { name: "Glob", tool: "glob" },
  { name: "LS", tool: "list_directory" },
  { name: "WebFetch", tool: "web_fetch" },
  { name: "TodoWrite", tool: "update_tasks", isNameOnly: true },
  { name: "ExitPlanMode", tool: "present_plan" },
  { name: "BashOutput", tool: "bash_output", isNameOnly: true },
  { name: "KillShell", tool: "kill_bash", isNameOnly: true },
  { name: "KillBash", tool: "kill_bash", isNameOnly: true },

  ...["str_replace_editor", "str_replace_based_edit_tool"].flatMap((name): readonly ToolAlias[] => [
    { name, tool: "edit_file", arguments: { old_string: "old_str", new_string: "new_str" }, fixed: { command: "str_replace" } },
    { name, tool: "write_file", arguments: { content: "file_text" }, fixed: { command: "create" } },
    { name, tool: "read_file", fixed: { command: "view" } },
  ]),

  { name: "run_shell_command", tool: "bash", ignored: ["description"] },
  { name: "replace", tool: "edit_file", arguments: FILE, ignored: ["instruction", "expected_replacements"] },
  { name: "read_many_files", tool: "read_file", isNameOnly: true },
  { name: "search_file_content", tool: "grep", arguments: { path: "dir_path", glob: "include" } },
  { name: "shell", tool: "bash" },
  { name: "local_shell", tool: "bash" },
  { name: "exec_command", tool: "bash", arguments: { command: "cmd" } },
  { name: "apply_patch", tool: "edit_file", isNameOnly: true },
  { name: "apply_patch", tool: "write_file", isNameOnly: true },
  { name: "apply_diff", tool: "edit_file", isNameOnly: true },
  { name: "execute_command", tool: "bash" },
  { name: "run_terminal_cmd", tool: "bash", ignored: ["explanation"] },
  { name: "run_in_terminal", tool: "bash", ignored: ["explanation"] },
  { name: "write_to_file", tool: "write_file" },
  { name: "replace_in_file", tool: "edit_file", isNameOnly: true },
  { name: "search_replace", tool: "edit_file", arguments: FILE },
  { name: "list_dir", tool: "list_directory" },
  { name: "grep_search", tool: "grep", arguments: { pattern: "query", glob: "include_pattern" }, ignored: ["explanation"] },
  { name: "file_search", tool: "glob", arguments: { pattern: "query" }, ignored: ["explanation"] },

  ...["run", "run_command", "run_server", "run_shell", "run_app", "execute", "terminal"].map((name): ToolAlias => ({ name, tool: "bash" })),
  ...["view", "open_file", "view_file", "cat"].map((name): ToolAlias => ({ name, tool: "read_file" })),
  { name: "create_file", tool: "write_file" },
  { name: "str_replace", tool: "edit_file", arguments: { old_string: "old_str", new_string: "new_str" } },
  { name: "search", tool: "grep" },
  ...["find", "find_files"].map((name): ToolAlias => ({ name, tool: "glob" })),
  ...["list_files", "ls"].map((name): ToolAlias => ({ name, tool: "list_directory" })),
  ...["job_output", "task_output"].map((name): ToolAlias => ({ name, tool: "bash_output" })),
  ...["job_kill", "kill_shell", "task_stop"].map((name): ToolAlias => ({ name, tool: "kill_bash" })),
];

const PATHS = ["file_path", "filePath", "filepath", "absolute_path", "target_file", "filename"];
const FOLDERS = ["directory", "dir", "dir_path", "folder", "target_directory"];

/** Other names of arguments that models give to our tools, whatever name they call the tool by. */
export const ARGUMENT_ALIASES: { readonly [tool: string]: { readonly [here: string]: readonly string[] } } = {
  bash: { command: ["cmd", "command_line", "script"] },
  read_file: { path: PATHS },
  write_file: { path: PATHS, content: ["contents", "file_text", "text"] },
  edit_file: {
    path: PATHS,
    old_string: ["old_str", "oldString", "old_text", "oldText"],
    new_string: ["new_str", "newString", "new_text", "newText"],
    replace_all: ["replaceAll"],
  },
  apply_patch: { input: ["patch", "diff", "patch_text", "patchText"], folder: ["cwd", "workdir", "directory"] },
  search_replace: {
    search: ["pattern", "query", "find"],
    replace: ["replacement", "replace_with"],
    path: [...FOLDERS, ...PATHS],
    glob: ["include", "file_pattern"],
    dry_run: ["dryRun", "preview"],
  },
  grep: { pattern: ["query", "regex"], path: [...FOLDERS, ...PATHS], ignore_case: ["case_insensitive"] },
  glob: { pattern: ["glob_pattern", "query"], path: FOLDERS },
  list_directory: { path: FOLDERS },
};
