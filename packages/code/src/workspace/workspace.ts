import type { Tool } from "@keelson/protocol";
import type { FileHistory } from "./file-history.ts";
import type { FileChanges } from "./file-changes.ts";
import type { FileTexts } from "./file-texts.ts";
import type { SeenFiles } from "./seen-files.ts";
import type { Telemetry } from "./telemetry.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** The context of the tools of the coding agent: what they share during a run. Each tool receives the part that it needs. */
export interface Workspace {
  readonly files: WorkspaceFiles;
  /** The working directory of a session that keeps none yet, relative to the root of `files`. A `cd` moves the one of the session. */
  readonly start: string;
  readonly texts: FileTexts;
  readonly changes: FileChanges;
  readonly seen: SeenFiles;
  readonly history: FileHistory;
  /** Always there, perhaps off. */
  readonly telemetry: Telemetry;
  /** Returns the tools of the agent, for a tool that starts agents with them. It is a function because the tools are made before the workspace. */
  tools(): readonly Tool<unknown, Workspace>[];
  /** The graph of the code, which tools only read. Absent: none was made. */
  readonly graph?: object | undefined;
  /** Returns a workspace for a child agent: the same parts. The session of the child starts in this directory, and moves a working directory of its own. */
  isolate(directory: string): Workspace;
}
