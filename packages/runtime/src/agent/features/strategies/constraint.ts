import type { Tool, ToolSchema } from "@keelson/protocol";
import { createToolRegistry, type ToolSet } from "../../../tools/tool-registry.ts";
import type { StateMachine } from "../../definition/strategies/state-machine.ts";
import { isTransitionTool, transitionTool } from "../../definition/strategies/transition-tool.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** What the state machine of an agent leaves of its tools. */
export interface Constraint {
  readonly machine: StateMachine;
  /** The agent's tools that may be used in this state. */
  toolsIn(state: string): ToolSet;
  /** What the model is told of them: the same list for the same state of a run. */
  schemasIn(state: string): readonly ToolSchema[];
}

function createConstraint(machine: StateMachine, tools: () => ToolSet): Constraint {
  const sets = new Map<string, ToolSet>();
  let of = tools();
  const toolsIn = (state: string): ToolSet => {
    // Those of a turn are the same set for as long as nothing of them changes.
    if (of !== tools()) sets.clear();
    of = tools();
    let set = sets.get(state);
    if (set === undefined) sets.set(state, (set = createToolRegistry(available(of, machine, state)).snapshot()));
    return set;
  };
  return { machine, toolsIn, schemasIn: (state) => toolsIn(state).schemas() };
}

function narrowed({ machine, toolsIn, schemasIn }: Constraint, allowed: readonly string[]): Constraint {
  const lists = new WeakMap<ToolSet, readonly ToolSchema[]>();
  return {
    machine,
    toolsIn,
    schemasIn(state) {
      const tools = toolsIn(state);
      let list = lists.get(tools);
      if (list === undefined) {
        list = schemasIn(state).filter(({ name }) => allowed.includes(name) || isTransitionTool(tools.get(name) as Tool));
        lists.set(tools, list);
      }
      return list;
    },
  };
}

function* available(tools: ToolSet, machine: StateMachine, state: string): Generator<Tool> {
  const names = new Set<string>([...machine.actionsFrom(state), ...machine.toolsIn(state)]);
  for (const tool of tools) {
    if (!isTransitionTool(tool)) {
      if (names.has(tool.name)) yield tool;
      continue;
    }
    const actions = machine.actionsFrom(state).filter((action) => machine.offered.has(action));
    if (actions.length > 0) yield transitionTool(new Map(actions.map((action) => [action, machine.offered.get(action)])));
  }
}

const CONSTRAINT = new PartKey<Constraint>("constraint");

/** What the agent's state machine leaves of the tools of a run, when it has one. */
export function constraintOn({ parts }: Loop): Constraint | undefined {
  return parts.get(CONSTRAINT);
}

export function bindConstraint(loop: Loop): void {
  const { parts, agent, authority } = loop;
  const machine = agent.options.strategy?.machine;
  if (machine === undefined) return;
  const constraint = createConstraint(machine, () => loop.tools);
  // What is left of those that the run may use.
  parts.set(CONSTRAINT, authority.allowedTools === undefined ? constraint : narrowed(constraint, authority.allowedTools));
}
