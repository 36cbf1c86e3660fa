import { createProcessExecutor } from "keelson/environment";
import type { HookRegistry } from "keelson/agent";
import type { InstructionFile } from "../instructions/index.ts";
import { instructionItem } from "./instruction-items.ts";
import { loadProjectHooks } from "./project-hooks.ts";
import type { ProjectItem } from "./project-item.ts";
import type { ProjectTrust } from "./project-trust.ts";

/** What a project brings, as far as it is trusted. */
export interface TrustedProject {
  readonly hooks?: HookRegistry;
  /** Whether this file of instructions is used. */
  usesInstructions(file: InstructionFile): Promise<boolean>;
}

/** @param onLeftOut told once of each item that is left out */
export async function openTrustedProject(trust: ProjectTrust, onLeftOut: (item: ProjectItem) => void): Promise<TrustedProject> {
  const told = new Set<string>();
  const hooks = await loadProjectHooks(trust, { exec: createProcessExecutor({ cwd: trust.project }), onLeftOut });
  return {
    ...(hooks && { hooks }),
    async usesInstructions(file) {
      const item = instructionItem(trust.project, file);
      // Of what could not be read only that is told.
      if (item === undefined || (await trust.allows(item))) return true;
      const key = `${item.path} ${item.digest}`;
      if (!told.has(key)) onLeftOut(item);
      told.add(key);
      return false;
    },
  };
}
