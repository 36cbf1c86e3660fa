import type { FileHistory } from "./file-history.ts";
import type { FileChanges } from "./file-changes.ts";
import type { FileTexts } from "./file-texts.ts";
import type { ReadBudget } from "./read-budget.ts";
import type { WorkingDirectory } from "./working-directory.ts";
import type { WorkspaceFiles } from "../tools/workspace-files.ts";

/** The context of the tools of the coding agent: what they share during a run. Each tool receives the part that it needs. */
export interface Workspace {
  readonly files: WorkspaceFiles;
  readonly directory: WorkingDirectory;
  readonly texts: FileTexts;
  readonly budget: ReadBudget;
  readonly changes: FileChanges;
  readonly history: FileHistory;
  /** Returns a workspace for a child agent: the same files and history, a working directory of its own with the same value. */
  isolate(): Workspace;
}
