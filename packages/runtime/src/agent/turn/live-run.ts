import type { AgentError, LogError, RunId, SessionId } from "@keelson/protocol";
import type { Agent } from "../definition/agent.ts";
import type { HeldContext } from "../definition/tool-context/held-context.ts";
import type { RunInput, RunOptions, RunOrigin, RunOutcome } from "../definition/run.ts";
import type { RunAccount } from "./operator-output.ts";
import type { Outside } from "../../session/outside-reached.ts";
import type { RunnerServices } from "./runner-services.ts";

/** A run at work in this process, as far as whoever started it needs to know it. */
export interface LiveRun {
  readonly id: RunId;
  readonly session: SessionId;
  readonly outcome: Promise<RunOutcome<unknown>>;
  /** What the log says of its work so far. */
  readonly account: RunAccount | undefined;
  /** Why this process left it where it was, once it did. */
  readonly failure: AgentError | undefined;
  stop(): Promise<void>;
  interrupt(): Promise<void>;
  abort(): Promise<void>;
  /** Leaves it where it is and writes nothing more. */
  detach(error: LogError): void;
}

/** A run that has others work for it. */
export interface ParentRun {
  /**
   * Whether a child that waits, and has nothing to go on with, is left as it is: so it is where somebody advances the run turn by turn.
   * Else it is taken up, for whoever can answer its question here.
   */
  readonly leavesWaiting: boolean;
  /** The context of its tools, which its children inherit. */
  readonly toolContext: HeldContext | undefined;
  /** Shows the events and questions of a child to the watchers of this run, too. @returns what to call when it is over */
  adopt(child: LiveRun, name: string): () => void;
}

/** How a run resumes a child. */
export interface ChildResumption {
  readonly leavesWaiting?: boolean;
  readonly inheritedContext?: HeldContext | undefined;
}

/** Starts runs and goes on with them: a runner, to those who need no more of it. */
export interface RunStarter {
  resume(session: string, options?: ChildResumption): Promise<LiveRun>;
  start(agent: Agent<unknown>, input: RunInput, options: RunOptions, origin: RunOrigin): LiveRun;
  find(name: string): Agent<unknown> | undefined;
  /** Of all its agents. */
  names(): readonly string[];
  readonly services: RunnerServices;
  /** Of a rehearsal: what its runs unwind with in place of an act that is not of the log. */
  readonly outside?: Outside | undefined;
}
