import type { BlobStore, Executor, Tool } from "@keelson/protocol";
import { createApplyPatchTool } from "./apply-patch.ts";
import { createFileChanges } from "../workspace/create-file-changes.ts";
import { createFileTexts } from "../workspace/create-file-texts.ts";
import type { FileTexts } from "../workspace/file-texts.ts";
import type { FileChanges } from "../workspace/file-changes.ts";
import type { FileHistory } from "../workspace/file-history.ts";
import { createBashOutputTool, createKillBashTool } from "./background-commands.ts";
import type { LeavingExecutor } from "./bash-input.ts";
import { createBashTool } from "./bash.ts";
import { createChangeDirTool } from "./change-dir.ts";
import { createEditFileTool } from "./edit-file.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { inWorkingDirectory } from "./in-working-directory.ts";
import { createListDirectoryTool } from "./list-directory.ts";
import { createReadFileTool } from "./read-file.ts";
import { createSearchReplaceTool } from "./search-replace.ts";
import { createSeenFiles } from "./seen-files.ts";
import { createWriteFileTool } from "./write-file.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

export interface CodingToolsOptions {
  /** As made by `createDiskVfs`. */
  readonly files: WorkspaceFiles;
  /** Keeps the texts of files between reads. Default: a store of its own. */
  readonly texts?: FileTexts | undefined;
  /** Makes the changes of files. Default: directly on `files`, without a history. */
  readonly changes?: FileChanges | undefined;
  /** Starts commands in the root of `files`. */
  readonly exec: Executor;
  /** Present if `exec` is a sandbox that a call may leave. */
  readonly leaving?: LeavingExecutor | undefined;
  /** Where long output of commands is kept whole. Absent: it loses its middle. */
  readonly blobs?: Pick<BlobStore, "put" | "get"> | undefined;
  /** Keeps what commands change, for undo. Absent: nothing is kept. */
  readonly history?: Pick<FileHistory, "around"> | undefined;
}

/** All tools of the coding agent, in the order of their names: the order is part of the prompt that vendors cache. */
export function createCodingTools({
  files,
  texts = createFileTexts({ files }),
  changes = createFileChanges({ files, texts }),
  exec,
  leaving,
  blobs,
  history,
}: CodingToolsOptions): readonly Tool[] {
  const outside = leaving?.outside;
  const seen = createSeenFiles();
  const killed = new Set<string>();
  const tools = [
    createApplyPatchTool({ files, changes, seen, exec }),
    createBashTool({ exec, leaving, killed, blobs, files, history }),
    createBashOutputTool({ exec, outside, blobs }),
    createChangeDirTool({ files }),
    createEditFileTool({ files, changes, seen, exec }),
    createGlobTool({ files }),
    createGrepTool({ files }),
    createKillBashTool({ exec, outside, killed }),
    createListDirectoryTool({ files }),
    createReadFileTool({ files, texts, seen }),
    createSearchReplaceTool({ files, changes, seen, exec }),
    createWriteFileTool({ files, changes, seen, exec }),
  ];
  return tools.map(inWorkingDirectory);
}
