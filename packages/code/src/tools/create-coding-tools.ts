import type { BlobStore, Executor, Tool } from "@keelson/protocol";
import { createApplyPatchTool } from "./apply-patch.ts";
import { createBashOutputTool, createKillBashTool } from "./background-commands.ts";
import type { LeavingExecutor } from "./bash-input.ts";
import { createBashTool } from "./bash.ts";
import { createChangeDirTool } from "./change-dir.ts";
import { createEditFileTool } from "./edit-file.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { inWorkingDirectory } from "./in-working-directory.ts";
import { createListDirectoryTool } from "./list-directory.ts";
import { createPresentPlanTool } from "./present-plan.ts";
import { createReadFileTool } from "./read-file.ts";
import { createSearchReplaceTool } from "./search-replace.ts";
import { createUpdateTasksTool } from "./update-tasks.ts";
import { createWriteFileTool } from "./write-file.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The programs and stores of the tools. What they work on is their context, a `Workspace`. */
export interface CodingToolsOptions {
  /** Starts commands in the root of the workspace. */
  readonly exec: Executor;
  /** Present if `exec` is a sandbox that a call may leave. */
  readonly leaving?: LeavingExecutor | undefined;
  /** The store of long outputs of commands. Absent: they lose their middle. */
  readonly blobs?: Pick<BlobStore, "put" | "get"> | undefined;
  /** True if a person can be asked about a plan. Default false: the agent has no tool for that. */
  readonly presentsPlans?: boolean | undefined;
}

/** All tools of the coding agent, in the order of their names: the order is part of the prompt that vendors cache. */
export function createCodingTools({
  exec,
  leaving,
  blobs,
  presentsPlans = false,
}: CodingToolsOptions): readonly Tool<unknown, Workspace>[] {
  const outside = leaving?.outside;
  const killed = new Set<string>();
  const tools = [
    createApplyPatchTool({ exec }),
    createBashTool({ exec, leaving, killed, blobs }),
    createBashOutputTool({ exec, outside, blobs }),
    createChangeDirTool(),
    createEditFileTool({ exec }),
    createGlobTool(),
    createGrepTool(),
    createKillBashTool({ exec, outside, killed }),
    createListDirectoryTool(),
    ...(presentsPlans ? [createPresentPlanTool()] : []),
    createReadFileTool(),
    createSearchReplaceTool({ exec }),
    createUpdateTasksTool(),
    createWriteFileTool({ exec }),
  ];
  return tools.map((tool) => inWorkingDirectory<Workspace>(tool));
}
