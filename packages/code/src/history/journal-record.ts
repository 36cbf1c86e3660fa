import type { Change, FileState } from "./file-state.ts";

/** `command`: a command in the foreground. `job`: one in the background. `edit`: a tool that names the files that it changes. */
export type StepKind = "command" | "job" | "edit";

/** A move of one path from one state to another. */
export interface Move {
  readonly path: string;
  readonly from: FileState | undefined;
  readonly to: FileState | undefined;
}

/** A move that was not made. */
export interface LeftMove extends Move {
  readonly reason: LeftReason;
}

/**
 * `changed`: the path is not in the state that the step left. `repository`: another part of the same repository was changed. `unclear`: it is not known
 * that the step made the change. `not-kept`: the content is not kept. `not-empty`: the folder has other content. `blocked`: the system refused.
 */
export type LeftReason = "changed" | "repository" | "unclear" | "not-kept" | "not-empty" | "blocked";

/** A record of the journal of a session. */
export type JournalRecord =
  | { readonly type: "session"; readonly version: 1; readonly session: string; readonly root: string }
  | {
      readonly type: "begin";
      readonly step: string;
      readonly kind: StepKind;
      readonly call: string;
      readonly run: string;
      /** The session of the call: that of a child agent if it is not the one of the journal. */
      readonly session: string;
      /** Unix ms. */
      readonly at: number;
      /** A command line or the name of a tool, for people. */
      readonly title: string;
      /** True for the first step after a message of the person. */
      readonly isFirst?: boolean;
      /** The files of an edit: the states before, and the states that the tool is about to make where they are known. */
      readonly edits?: readonly PlannedEdit[];
    }
  /** Changes of a step that goes on. */
  | { readonly type: "part"; readonly step: string; readonly changes: readonly Change[] }
  | {
      readonly type: "end";
      readonly step: string;
      readonly at: number;
      readonly changes: readonly Change[];
      readonly isRecovered?: boolean;
    }
  | {
      readonly type: "undo";
      readonly id: string;
      readonly at: number;
      readonly steps: readonly string[];
      readonly moves: readonly Move[];
      readonly left: readonly LeftMove[];
      /** The undo that this one reverts: then it is a redo. */
      readonly redoes?: string;
      /** Folders that must be made writable for it, with the permissions that they have. */
      readonly opened: readonly { readonly path: string; readonly mode: number }[];
    }
  /** A file is about to be written in place by an undo: a crash may leave a part of it. */
  | { readonly type: "rewrite"; readonly id: string; readonly path: string }
  | { readonly type: "undone"; readonly id: string; readonly done: readonly Move[]; readonly left: readonly LeftMove[] }
  /** Steps whose images were dropped, because the history takes too much space. */
  | { readonly type: "dropped"; readonly steps: readonly string[] };

export interface PlannedEdit {
  readonly path: string;
  readonly before: FileState | undefined;
  /** Absent: it is not known. `null`: nothing will be there. */
  readonly digest?: string | null;
}
