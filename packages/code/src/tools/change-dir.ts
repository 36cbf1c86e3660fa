import type { Tool } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { createWorkingDirectory } from "../workspace/create-working-directory.ts";
import { directoryOf, moveDirectory } from "./call-directory.ts";
import { explainMissing } from "./explain-missing.ts";
import { text, toolInput } from "./tool-input.ts";
import { filesOf, permissionPath, plannedPath, toolFailure, type WorkspaceFiles } from "./workspace-files.ts";

export interface ChangeDirInput {
  readonly path: string;
}

/** Moves the working directory. */
export function createChangeDirTool({ files: own }: { readonly files: WorkspaceFiles }): Tool<ChangeDirInput> {
  return defineTool<ChangeDirInput>({
    name: "change_dir",
    description:
      "Move the working directory to a folder of the project: commands and relative paths of your next responses start there. Calls beside this one still start where they were.",
    effect: "read",
    aliases: ["cd", "change_directory", "set_working_directory"],
    input: toolInput({ path: text("The folder, relative to the working directory, or absolute.") }),
    permissionText: ({ path }, effects) => effects?.reads?.[0] ?? permissionPath(own, path),
    effectsOf: async ({ path }, where) => ({ reads: [await plannedPath(where, own, path)] }),
    async execute({ path }, call) {
      const files = filesOf(call, own, "change_dir");
      return explainMissing(files, path, call.signal, async () => {
        const directory = createWorkingDirectory(files, ".");
        await directory.change(path);
        if (!(await moveDirectory(call, directory.path, files)))
          throw toolFailure("change_dir", `${path} is outside of the project; the working directory stays ${directoryOf(call)}.`);
        return `The working directory is now ${directory.path}.`;
      });
    },
  });
}
