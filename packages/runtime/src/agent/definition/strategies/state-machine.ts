import { StrategyError, type ActionId, type FsmStateId, type FsmTransition, type JsonObject, type JsonValue } from "@keelson/protocol";

/** A machine as data and pure functions of a state. It has no state itself: whoever uses it keeps that. */
export interface StateMachine {
  readonly initial: FsmStateId;
  /** Whether the next run of a session goes on in the state in which the last one ended, or begins at `initial`. */
  readonly scope: "session" | "run";
  readonly states: ReadonlySet<FsmStateId>;
  readonly actions: ReadonlySet<ActionId>;
  /** Actions that a model takes with the tool `transition`, because no tool has their name; with what it is told of them. */
  readonly offered: ReadonlyMap<ActionId, string | undefined>;
  /** In the order in which they were declared. */
  actionsFrom(state: string): readonly ActionId[];
  /** Tools that may be used in this state without moving the machine. */
  toolsIn(state: string): readonly string[];
  /** All tools that `toolsIn` names for any state. */
  readonly tools: ReadonlySet<string>;
  /** Whether the action leaves any state. One that does not may run beside others. */
  moves(action: string): boolean;
  /**
   * Where the action leads: of its transitions the one with the highest priority whose guard accepts the input; equal ones in
   * the order of their declaration.
   * @throws StrategyError of kind `invalid-transition`, `guard-rejected`, or `execution` when a guard throws
   */
  next(state: string, action: string, input: JsonValue): FsmStateId;
  /** The definition as data, guards by name. */
  readonly definition: JsonObject;
}

export interface StateMachineParts {
  readonly initial: FsmStateId;
  readonly scope: "session" | "run";
  readonly transitions: readonly (FsmTransition & { readonly from: FsmStateId; readonly action: ActionId })[];
  readonly offered: ReadonlyMap<ActionId, string | undefined>;
  readonly toolsOfState: ReadonlyMap<FsmStateId, ReadonlySet<string>>;
  readonly toolsEverywhere: ReadonlySet<string>;
}

type TransitionsByAction = Map<ActionId, FsmTransition[]>;

export function createStateMachine(parts: StateMachineParts): StateMachine {
  const { initial, scope, transitions, offered, toolsOfState, toolsEverywhere } = parts;
  const byState = new Map<string, TransitionsByAction>();
  const states = new Set([initial]);
  const actions = new Set<ActionId>();
  const moving = new Set<string>();
  for (const { from, action, ...transition } of transitions) {
    states.add(from).add(transition.target);
    actions.add(action);
    if (transition.target !== from) moving.add(action);
    let ofState = byState.get(from);
    if (ofState === undefined) byState.set(from, (ofState = new Map()));
    ofState.set(action, [...(ofState.get(action) ?? []), transition]);
  }
  // A stable sort, once: equal priorities stay in the order of their declaration.
  for (const ofState of byState.values()) for (const tried of ofState.values()) tried.sort((a, b) => b.priority - a.priority);
  const actionsByState = new Map([...byState].map(([state, ofState]) => [state, [...ofState.keys()]]));
  const toolsByState = new Map([...toolsOfState].map(([state, tools]) => [state as string, [...new Set([...toolsEverywhere, ...tools])]]));
  const everywhere = [...toolsEverywhere];
  const actionsFrom = (state: string): readonly ActionId[] => actionsByState.get(state) ?? [];

  return {
    initial,
    scope,
    states,
    actions,
    offered,
    actionsFrom,
    toolsIn: (state) => toolsByState.get(state) ?? everywhere,
    tools: new Set([...everywhere, ...[...toolsByState.values()].flat()]),
    moves: (action) => moving.has(action),
    next(state, action, input) {
      const tried = byState.get(state)?.get(action as ActionId);
      if (tried === undefined) throw invalidTransition(state, action, actionsFrom(state));
      for (const { guard, target } of tried) if (guard === undefined || accepts(guard, input)) return target;
      throw guardRejected(state, action, [...new Set(tried.map(({ guard }) => guard?.name ?? ""))]);
    },
    definition: {
      initial,
      scope,
      transitions: transitions.map(({ from, action, target, guard, priority }) => [from, action, target, guard?.name ?? null, priority]),
      offered: [...offered].map(([action, description]) => [action, description ?? null]),
      tools: [...toolsByState],
      everywhere,
    },
  };
}

function accepts(guard: NonNullable<FsmTransition["guard"]>, input: JsonValue): boolean {
  try {
    return guard.check(input);
  } catch (cause) {
    const message = `The guard "${guard.name}" threw: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new StrategyError({ kind: "execution", message }, { cause });
  }
}

function invalidTransition(currentState: string, attemptedAction: string, validActions: readonly string[]): StrategyError {
  return new StrategyError({
    kind: "invalid-transition",
    currentState,
    attemptedAction,
    validActions,
    message: `"${attemptedAction}" is not possible in the state "${currentState}". ${validActions.length === 0 ? "No action is possible there." : `Possible there: ${quoted(validActions)}.`}`,
  });
}

function guardRejected(state: string, action: string, guards: readonly string[]): StrategyError {
  return new StrategyError({
    kind: "guard-rejected",
    guards,
    message: `"${action}" was refused in the state "${state}" for this input, by ${guards.length === 1 ? "the guard" : "the guards"} ${quoted(guards)}.`,
  });
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}
