import type { Authority, LifecycleEvent, RunId, SessionId } from "@keelson/protocol";
import type { Journal, JournalWatcher } from "../../session/journal.ts";
import type { Agent } from "../definition/agent.ts";
import type { Limits } from "../definition/limits.ts";
import type { HeldContext } from "../definition/tool-context/held-context.ts";
import type { RunStarter } from "../turn/live-run.ts";
import type { Next } from "../loop/run-turns.ts";
import type { Loop } from "../turn/loop.ts";
import type { Moments } from "../turn/moments.ts";

export interface ActiveRunOptions<Out> {
  readonly runner: RunStarter;
  readonly agent: Agent<Out>;
  readonly id: RunId;
  readonly session: SessionId;
  readonly authority: Authority;
  readonly limits: Limits;
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly parent?: { readonly run: RunId };
  /** The session whose run waits for this one, woken when it is over. */
  readonly wakes?: SessionId;
  /** Takes the lease and folds the log. */
  open(watcher: JournalWatcher): Promise<Journal>;
  /** Finds out what the first records of a run need. */
  prepare?(journal: Journal): Promise<void>;
  /** Puts the records that begin this stretch of work, at once where the run is new, or throws why it can't begin. @returns what comes next, where no turn is to be worked */
  begin(journal: Journal, loop: Loop): Promise<Next | void>;
  /** Called beside the runner's own. */
  onLifecycleEvent?(event: LifecycleEvent): void;
  /** Default: those of every run. */
  readonly moments?: Moments | undefined;
  /** The context of the parent's tools, if the parent works in this process. */
  readonly inheritedContext?: HeldContext | undefined;
  /** Turns to work before letting go. Default: to the end. */
  readonly turns?: number;
  /** Whether a child that waits, and has nothing to go on with, is left as it is. Default: it is taken up, and asks again. */
  readonly leavesWaiting?: boolean;
}
