import type { Tool, Vfs } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { shownName } from "./shown-name.ts";
import { optional, text, toolInput } from "./tool-input.ts";
import { type FilesContext, filesOf, plannedPath } from "./call-files.ts";

const MAX_ENTRIES = 1000;

export interface ListDirectoryInput {
  readonly path?: string;
}

/** Names what stands in a folder, folders first. */
export function createListDirectoryTool(): Tool<ListDirectoryInput, FilesContext> {
  return defineTool.for<FilesContext>()<ListDirectoryInput>({
    name: "list_directory",
    description:
      "List the files and folders in a folder, one a line: folders first, with a slash at the end; files with their size. Not recursive: use glob for that.",
    effect: "read",
    aliases: ["list_files", "ls"],
    input: toolInput({ path: optional(text("The folder, relative to the working directory. Default: the working directory.")) }),
    permissionText: ({ path = "." }, effects) => effects?.reads?.[0] ?? path,
    effectsOf: async ({ path = "." }, where) => ({ reads: [await plannedPath(where, path)] }),
    async execute({ path = "." }, call) {
      const files = filesOf(call, "list_directory");
      return explainMissing(files, path, call.signal, () => listDirectory(files, path, call.signal));
    },
  });
}

/** The listing as text. Rejects with `VfsError` when it is no folder. */
export async function listDirectory(files: Vfs, path: string, signal: AbortSignal): Promise<string> {
  const entries = await files.ls(path, { signal });
  if (entries.length === 0) return "[The folder is empty.]";
  const folders = entries.filter((entry) => entry.isDir).map((entry) => `${shownName(entry.name)}/`);
  const others = entries
    .filter((entry) => !entry.isDir)
    .map((entry) => (entry.size === undefined ? shownName(entry.name) : `${shownName(entry.name)}  (${formatSize(entry.size)})`));
  const lines = [...folders, ...others];
  const more = lines.length - MAX_ENTRIES;
  return [...lines.slice(0, MAX_ENTRIES), ...(more > 0 ? [`[... and ${more} more. Narrow it with glob.]`] : [])].join("\n");
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
