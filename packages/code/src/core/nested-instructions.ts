import type { JsonValue, Tool } from "@keelson/protocol";
import { patchedPaths } from "../edits/patched-paths.ts";
import { fromDirectory } from "../tools/call-directory.ts";
import { type AgentsMdOptions, agentsMdFor, renderInstructions } from "../instructions/index.ts";

/** Tools whose arguments say where in the project the model works. */
const BY_PATH: ReadonlySet<string> = new Set(["apply_patch", "read_file", "edit_file", "write_file", "list_directory", "search_replace"]);
// A forgotten session is told once more.
const MAX_SESSIONS = 100;

/**
 * The same tools, which tell the model what the files of instructions of a folder below the working directory say when it first
 * touches something there: what the prompt holds are those of the working directory and above.
 */
export function withNestedInstructions<Context>(
  tools: readonly Tool<unknown, Context>[],
  options: Pick<AgentsMdOptions, "cwd" | "isTrusted">,
): readonly Tool<unknown, Context>[] {
  const told = new Map<string, Set<string>>();
  return tools.map((tool) => (BY_PATH.has(tool.name) ? tellingTool(tool, options, told) : tool));
}

function tellingTool<Context>(
  tool: Tool<unknown, Context>,
  options: Pick<AgentsMdOptions, "cwd" | "isTrusted">,
  told: Map<string, Set<string>>,
): Tool<unknown, Context> {
  return {
    ...tool,
    async execute(input, call) {
      const output = await tool.execute(input, call);
      const paths = pathsOf(input as { readonly path?: JsonValue; readonly input?: JsonValue });
      if (typeof output !== "string" || paths.length === 0) return output;
      const known = told.get(call.session) ?? new Set();
      const found = await Promise.all(paths.map((path) => agentsMdFor(fromDirectory(call, path), options)));
      const byPath = new Map(found.flat().map((file) => [file.path, file]));
      const files = [...byPath.values()].filter((file) => !known.has(file.path));
      if (files.length === 0) return output;
      for (const file of files) known.add(file.path);
      told.set(call.session, known);
      if (told.size > MAX_SESSIONS) for (const oldest of told.keys()) if (told.delete(oldest)) break;
      return `${output}\n\n[For work in this folder:\n${renderInstructions(files)}]`;
    },
  };
}

/** The files and folders that a call names: by its path, or in its patch. */
function pathsOf({ path, input }: { readonly path?: JsonValue; readonly input?: JsonValue }): readonly string[] {
  if (typeof path === "string") return [path];
  return typeof input === "string" ? patchedPaths(input) : [];
}
