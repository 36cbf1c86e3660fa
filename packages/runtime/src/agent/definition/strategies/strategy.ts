import type { ActionId, JsonObject, JsonValue, SignalRoute } from "@keelson/protocol";
import type { StateMachine } from "./state-machine.ts";

/**
 * What an agent may do when. Driven by hand it keeps its own state; an agent's runs never touch that: each has its state in
 * its log, and goes by `machine` alone.
 */
export interface ExecutionStrategy {
  /** What runs of an agent are held to. Absent: nothing constrains them. */
  readonly machine?: StateMachine;
  /**
   * Does an action. @returns its input, as it was given
   * @throws StrategyError of kind `invalid-transition` or `guard-rejected` when it can't be done now; the state stays
   */
  execute<Input extends JsonValue>(action: ActionId | string, input: Input): Input;
  /** Whether anything can be done from here. Changes nothing: these strategies have no time of their own. */
  tick(): { readonly done: boolean };
  /** All that `restore` of a strategy of the same definition needs to go on from here. */
  snapshot(): JsonObject;
  /** What the strategy does about signals: the first tier. */
  signalRoutes(): readonly SignalRoute[];
}
