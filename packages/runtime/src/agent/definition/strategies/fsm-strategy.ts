import { StrategyError, type ActionId, type FsmStateId, type JsonObject, type JsonValue, type SignalRoute } from "@keelson/protocol";
import { quoted, type StateMachine } from "./state-machine.ts";
import type { ExecutionStrategy } from "./strategy.ts";

/** A state machine and the state it is in: actions must be transitions from there that no guard refuses. */
export class FsmStrategy implements ExecutionStrategy {
  readonly machine: StateMachine;
  #state: FsmStateId;

  constructor(machine: StateMachine) {
    this.machine = machine;
    this.#state = machine.initial;
  }

  currentState(): FsmStateId {
    return this.#state;
  }

  execute<Input extends JsonValue>(action: ActionId | string, input: Input): Input {
    this.#state = this.machine.next(this.#state, action, input);
    return input;
  }

  tick(): { readonly done: boolean } {
    return { done: this.machine.actionsFrom(this.#state).length === 0 };
  }

  snapshot(): JsonObject {
    return { type: "fsm", state: this.#state };
  }

  /** @throws StrategyError when the snapshot is of another kind, or of a state that this machine does not have */
  restore(snapshot: JsonObject): void {
    const { type, state } = snapshot;
    if (type !== "fsm" || !this.machine.states.has(state as FsmStateId))
      throw new StrategyError({
        kind: "other",
        message: `${JSON.stringify(snapshot)} is no snapshot of this machine, which has the states ${quoted([...this.machine.states])}.`,
      });
    this.#state = state as FsmStateId;
  }

  signalRoutes(): readonly SignalRoute[] {
    return [];
  }
}

/** A strategy with the signal routes that it brings along: what goes into an agent's `strategy`. */
export class FsmStrategyWithRoutes implements ExecutionStrategy {
  readonly strategy: FsmStrategy;
  readonly #routes: readonly SignalRoute[];

  constructor(strategy: FsmStrategy, routes: readonly SignalRoute[]) {
    this.strategy = strategy;
    this.#routes = routes;
  }

  get machine(): StateMachine {
    return this.strategy.machine;
  }

  execute<Input extends JsonValue>(action: ActionId | string, input: Input): Input {
    return this.strategy.execute(action, input);
  }

  tick(): { readonly done: boolean } {
    return this.strategy.tick();
  }

  snapshot(): JsonObject {
    return this.strategy.snapshot();
  }

  signalRoutes(): readonly SignalRoute[] {
    return this.#routes;
  }
}
