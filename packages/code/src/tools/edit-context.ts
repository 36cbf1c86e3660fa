import type { Executor } from "@keelson/protocol";
import type { Workspace } from "../workspace/workspace.ts";

/** The context of a tool that changes files. */
export type EditContext = Pick<Workspace, "files" | "changes" | "seen">;

export interface EditToolOptions {
  /** Runs the commands of the agent. Present: edits that its sandbox allows to commands need no question. */
  readonly exec?: Executor | undefined;
}
