import type { WorkspaceEntry } from "./overlay-changes.ts";

/** What one change makes of the base. */
export interface PlannedChange {
  readonly path: string;
  /** What stands in the base, and must still do when it is changed. */
  readonly was: WorkspaceEntry;
  readonly becomes:
    | { readonly type: "absent" }
    | { readonly type: "folder"; readonly mode: number }
    | { readonly type: "link"; readonly target: string }
    | { readonly type: "file"; readonly mode: number; readonly content: { readonly location: string } | { readonly text: string } };
}
