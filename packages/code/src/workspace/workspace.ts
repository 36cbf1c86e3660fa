import type { Tool } from "@keelson/protocol";
import type { FileHistory } from "./file-history.ts";
import type { FileChanges } from "./file-changes.ts";
import type { FileTexts } from "./file-texts.ts";
import type { Telemetry } from "./telemetry.ts";
import type { WorkingDirectory } from "./working-directory.ts";
import type { WorkspaceFiles } from "../tools/workspace-files.ts";

/** The context of the tools of the coding agent: what they share during a run. Each tool receives the part that it needs. */
export interface Workspace {
  readonly files: WorkspaceFiles;
  readonly directory: WorkingDirectory;
  readonly texts: FileTexts;
  readonly changes: FileChanges;
  readonly history: FileHistory;
  /** Always there, perhaps off. */
  readonly telemetry: Telemetry;
  /** Returns the tools of the agent, for a tool that starts agents with them. It is a function because the tools are made after the workspace. */
  tools(): readonly Tool[];
  /** The graph of the code, which tools only read. Absent: none was made. */
  readonly graph?: object | undefined;
  /** Returns a workspace for a child agent: the same parts, and a working directory of its own with the same value. */
  isolate(): Workspace;
}
