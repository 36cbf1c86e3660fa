import type { ObservableEvent } from "@keelson/protocol";
import type { WorkspaceFiles } from "./workspace-files.ts";
import { createFileChanges } from "./create-file-changes.ts";
import { createFileTexts } from "./create-file-texts.ts";
import type { FileChanges } from "./file-changes.ts";
import type { FileHistory } from "./file-history.ts";
import type { FileTexts } from "./file-texts.ts";
import { createTelemetry, NO_TELEMETRY } from "./telemetry.ts";
import { createSeenFiles, type SeenFiles } from "./seen-files.ts";
import type { Workspace } from "./workspace.ts";

export interface WorkspaceOptions {
  readonly files: WorkspaceFiles;
  /** Default: the root of `files`. */
  readonly start?: string | undefined;
  readonly texts?: FileTexts | undefined;
  /** Default: directly on `files`. */
  readonly changes?: FileChanges | undefined;
  /** Default: one in which nothing was seen. */
  readonly seen?: SeenFiles | undefined;
  /** Default: none; the note of a command says so. */
  readonly history?: FileHistory | undefined;
  /** Receives what tools record. Default: telemetry is off. */
  readonly onTelemetry?: ((event: ObservableEvent) => void) | undefined;
  /** The session that telemetry names. */
  readonly session?: string | undefined;
  /** Returns the tools of the agent. Default: none. */
  readonly tools?: Workspace["tools"] | undefined;
  readonly graph?: object | undefined;
}

/** Puts the parts of a workspace together. */
export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { files, onTelemetry, session, tools = () => [], graph, history = createNoHistory() } = options;
  const telemetry =
    onTelemetry === undefined
      ? NO_TELEMETRY
      : createTelemetry({ listener: onTelemetry, ...(session !== undefined && { attributes: { session } }) });
  const texts = options.texts ?? createFileTexts({ files, telemetry });
  const changes = options.changes ?? createFileChanges({ files, texts });
  const seen = options.seen ?? createSeenFiles();
  const shared = { files, texts, changes, seen, history, telemetry, tools, ...(graph !== undefined && { graph }) };
  const startingIn = (start: string): Workspace => ({ ...shared, start, isolate: startingIn });
  return startingIn(options.start ?? ".");
}

/** Keeps nothing, and says so for each command. */
function createNoHistory(): FileHistory {
  return {
    keep: async () => {},
    losses: async () => [],
    async around(_call, run, { onEnd } = {}) {
      const result = await run();
      onEnd?.([]);
      return { result, notes: ["No history of files is kept here: what this command changed cannot be undone."], changed: [] };
    },
  };
}
