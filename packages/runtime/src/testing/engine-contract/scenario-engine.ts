import type { ScenarioServices } from "./create-scenario-runner.ts";

/**
 * An engine, as the suite drives it: something that has `runner.advance(session)` called until a run is over, in whatever processes.
 * Where the run stands is read off its log, so there is nothing to wait for here.
 */
export interface ScenarioEngine {
  /** What its workers share: the suite decides, signals and stops through them, and reads the logs. */
  readonly services: ScenarioServices;
  /** Begins a run of this agent, and has it worked. The same id again is the same run. */
  begin(session: string, input: string, options: { readonly agent: string; readonly id: string }): Promise<void>;
  /**
   * Has the session looked at soon: something was written to it, or time went by. Not called for what goes through
   * `services.orchestrator`, which wakes by itself.
   */
  wake(session: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens an engine on an empty directory that all its processes see. */
export type CreateScenarioEngine = (directory: string) => Promise<ScenarioEngine>;
