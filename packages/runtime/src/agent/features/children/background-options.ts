import type { Execution } from "../../../session/execution.ts";
import type { ParentRun, RunStarter } from "../../turn/live-run.ts";

export interface BackgroundOptions {
  readonly runner: RunStarter;
  readonly parent: ParentRun;
  readonly execution: Execution;
  /** Work that may be open at once. */
  readonly maxOpen: number;
}
