import type { TrustedProject } from "../trust/trusted-project.ts";
import type { Launch } from "./launch.ts";

/** Returns the folders beside the working directory in which the agent may work: those of the command line and of settings. */
export function workingFolders({ agent }: Pick<Launch, "agent">, { settings }: Pick<TrustedProject, "settings">): readonly string[] {
  return [...new Set([...(agent.folders ?? []), ...settings.folders])];
}
