import { StrategyError, type ActionId, type FsmStateId, type GuardCondition, type SignalRoute } from "@keelson/protocol";
import { FsmStrategy, FsmStrategyWithRoutes } from "./fsm-strategy.ts";
import { createStateMachine, quoted, type StateMachineParts } from "./state-machine.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

export interface FsmStrategyOptions {
  /**
   * Default `session`: the next run of a session goes on in the state in which the last one ended, as its conversation does.
   * `run`: every run begins at the initial state.
   */
  readonly scope?: "session" | "run" | undefined;
}

/** Every method gives the builder back, `build` apart. */
export interface FsmStrategyBuilder {
  /**
   * Says that there is such a state. That alone is documentation: a machine has the states that its transitions name, and
   * the initial one.
   * @param options.tools tools that may be used in it and do not move the machine
   */
  state(id: string, options?: { readonly tools?: readonly string[] }): FsmStrategyBuilder;
  /** Tools that may be used in every state and do not move the machine. */
  tools(...names: readonly string[]): FsmStrategyBuilder;
  /** In the state `from` the action leads to `to`. An action has the name of a tool: it is done when a call of that succeeded. */
  transition(from: string, action: string, to: string): FsmStrategyBuilder;
  /** The same on a condition. Of several transitions the one with the higher priority is tried first; one without a guard has 0. */
  transitionWithGuard(from: string, action: string, to: string, guard: GuardCondition, priority: number): FsmStrategyBuilder;
  /**
   * Lets the model take an action that is no tool, with the generated tool `transition`.
   * @param description what the model is told about it
   */
  offer(action: string, description?: string): FsmStrategyBuilder;
  initial(state: string): FsmStrategyBuilder;
  /** What the machine does about a signal; goes before the routes of the agent and its plugins. */
  route(route: SignalRoute): FsmStrategyBuilder;
  /** @throws StrategyError of kind `no-initial-state`; `other` for tools of a state, or offered actions, that no transition names */
  build(): FsmStrategyWithRoutes;
}

/**
 * Defines a state machine that an agent is held to: in a state it may do what the state's transitions and tools allow.
 *
 * ```ts
 * const strategy = fsmStrategy()
 *   .initial("triage")
 *   .transition("triage", "verify_identity", "verified")
 *   .transitionWithGuard("verified", "refund", "done", closureGuard("up to 50", (input) => (input as { amount: number }).amount <= 50), 10)
 *   .build();
 * ```
 */
export function fsmStrategy(options: FsmStrategyOptions = {}): FsmStrategyBuilder {
  checkOptionNames("fsmStrategy", options, { scope: true });
  const { scope = "session" } = options;
  const transitions: StateMachineParts["transitions"][number][] = [];
  const offered = new Map<ActionId, string | undefined>();
  const toolsOfState = new Map<FsmStateId, Set<string>>();
  const toolsEverywhere = new Set<string>();
  const routes: SignalRoute[] = [];
  let initial: FsmStateId | undefined;

  const add = (from: string, action: string, to: string, priority: number, guard?: GuardCondition): FsmStrategyBuilder => {
    for (const [what, name] of [
      ["state", from],
      ["action", action],
      ["state", to],
    ] as const)
      checkName(what, name);
    transitions.push({ from: from as FsmStateId, action: action as ActionId, target: to as FsmStateId, priority, ...(guard && { guard }) });
    return builder;
  };
  const builder: FsmStrategyBuilder = {
    state(id, options = {}) {
      checkOptionNames("fsmStrategy.state", options, { tools: true });
      const { tools } = options;
      checkName("state", id);
      if (tools) toolsOfState.set(id as FsmStateId, new Set([...(toolsOfState.get(id as FsmStateId) ?? []), ...tools]));
      return builder;
    },
    tools(...names) {
      for (const name of names) toolsEverywhere.add(name);
      return builder;
    },
    transition: (from, action, to) => add(from, action, to, 0),
    transitionWithGuard(from, action, to, guard, priority) {
      if (typeof guard?.check !== "function" || typeof guard.name !== "string" || guard.name === "")
        throw wrong(`The transition "${action}" from "${from}" needs a guard with a name: make one with closureGuard.`);
      if (!Number.isFinite(priority))
        throw wrong(`The priority of "${action}" from "${from}" must be a finite number, not ${String(priority)}.`);
      return add(from, action, to, priority, guard);
    },
    offer(action, description) {
      checkName("action", action);
      offered.set(action as ActionId, description);
      return builder;
    },
    initial(state) {
      checkName("state", state);
      initial = state as FsmStateId;
      return builder;
    },
    route(route) {
      checkOptionNames("fsmStrategy.route", route, { kind: true, predicate: true, action: true, priority: true });
      routes.push(route);
      return builder;
    },
    build() {
      if (initial === undefined)
        throw new StrategyError({
          kind: "no-initial-state",
          message: "The state machine has no initial state: declare it with initial(state).",
        });
      const machine = createStateMachine({
        initial,
        scope,
        transitions: [...transitions],
        offered: new Map(offered),
        toolsOfState: new Map(toolsOfState),
        toolsEverywhere: new Set(toolsEverywhere),
      });
      for (const state of toolsOfState.keys())
        if (!machine.states.has(state))
          throw wrong(
            `The state "${state}" has tools, but no transition leads to it; there are the states ${quoted([...machine.states])}.`,
          );
      for (const action of offered.keys())
        if (!machine.actions.has(action)) throw wrong(`The action "${action}" is offered, but no transition has it.`);
      return new FsmStrategyWithRoutes(new FsmStrategy(machine), [...routes]);
    },
  };
  return builder;
}

function checkName(what: "state" | "action", name: unknown): void {
  if (typeof name !== "string" || name === "")
    throw wrong(`The name of ${what === "state" ? "a state" : "an action"} must be a text that is not empty.`);
}

function wrong(message: string): StrategyError {
  return new StrategyError({ kind: "other", message });
}
