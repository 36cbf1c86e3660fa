import type { Tool } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { directoryOf, moveDirectory } from "./call-directory.ts";
import { explainMissing } from "./explain-missing.ts";
import { text, toolInput } from "./tool-input.ts";
import { type FilesContext, filesOf, plannedPath, toolFailure } from "./call-files.ts";

export interface ChangeDirInput {
  readonly path: string;
}

/** Moves the working directory. */
export function createChangeDirTool(): Tool<ChangeDirInput, FilesContext> {
  return defineTool.for<FilesContext>()<ChangeDirInput>({
    name: "change_dir",
    description:
      "Move the working directory to a folder of the project: commands and relative paths of your next responses start there. Calls beside this one still start where they were.",
    effect: "read",
    aliases: ["cd", "change_directory", "set_working_directory"],
    input: toolInput({ path: text("The folder, relative to the working directory, or absolute.") }),
    permissionText: ({ path }, effects) => effects?.reads?.[0] ?? path,
    effectsOf: async ({ path }, where) => ({ reads: [await plannedPath(where, path)] }),
    async execute({ path }, call) {
      const files = filesOf(call, "change_dir");
      return explainMissing(files, path, call.signal, async () => {
        const target = await files.stat(path, { signal: call.signal });
        const stays = `the working directory stays ${directoryOf(call)}.`;
        if (!target.isDir) throw toolFailure("change_dir", `${path} is not a folder; ${stays}`);
        if (!(await moveDirectory(call, target.path, files)))
          throw toolFailure("change_dir", `${path} is outside of the project; ${stays}`);
        return `The working directory is now ${target.path}.`;
      });
    },
  });
}
