import type { SessionId, Tool } from "@keelson/protocol";
import { createDiskVfs } from "keelson/environment";
import { recordChanges, type ToolHistory } from "../history/index.ts";
import { createFileChanges } from "../workspace/create-file-changes.ts";
import { createFileTexts } from "../workspace/create-file-texts.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createSeenFiles } from "../workspace/seen-files.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface CodingWorkspaceOptions {
  readonly cwd: string;
  /** Folders beside it that the agent may use. */
  readonly folders: readonly string[];
  readonly history: ToolHistory;
  readonly tools: readonly Tool<unknown, Workspace>[];
}

/** Returns a function that makes the workspace of each run. Runs of one process share the files, their texts and the history. */
export function createCodingWorkspace({ cwd, folders, history, tools }: CodingWorkspaceOptions): (session: SessionId) => Workspace {
  const files = createDiskVfs({ root: cwd, allowed: folders });
  const texts = createFileTexts({ files });
  const changes = recordChanges(createFileChanges({ files, texts }), files, history);
  const shared = { files, texts, changes, history, seen: createSeenFiles(), tools: () => tools };
  return (session) => createWorkspace({ ...shared, session });
}
