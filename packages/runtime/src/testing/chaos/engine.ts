import type { Orchestrator, RunId, SessionId } from "@keelson/protocol";
import type { RunInput } from "../../agent/definition/run.ts";
import type { SingleRunner } from "../../agent/runner/runner.ts";
import type { ChaosServices } from "./scene.ts";

/** A process of a run: what an engine works with. */
export interface ChaosProcess {
  /** The scene's runner, on stores that may fail it. */
  readonly runner: SingleRunner<unknown>;
  readonly services: ChaosServices;
  readonly session: SessionId;
  readonly input: RunInput;
  /** For engines that begin a run: the same in every process. */
  readonly runId: RunId;
  /** A call of the runner that an engine makes for what its queue, timer or client told it: may come twice, to two workers, or not at all. */
  deliver<T>(about: string, act: () => Promise<T>): Promise<T>;
}

/** Whatever keeps a run going. One is made for each run, and outlives its processes: what it keeps is what its database would hold. */
export interface ChaosEngine {
  /** Where it starts children and is told of news. Default: children work inside of their parents' processes. */
  orchestrator?(runner: () => SingleRunner<unknown>): Orchestrator;
  /**
   * What one process does: begins the run if it is new, and works until there is nothing to do but to wait for others. It is called
   * again, with another process, after a crash, after answers, and after it rejected.
   */
  work(process: ChaosProcess): Promise<void>;
}
