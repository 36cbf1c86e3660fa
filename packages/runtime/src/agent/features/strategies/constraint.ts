import type { Tool, ToolSchema } from "@keelson/protocol";
import { createToolRegistry, type ToolSet } from "../../../tools/tool-registry.ts";
import type { Agent } from "../../definition/agent.ts";
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

/** @param allowedTools names of the tools that the run may use. Default: all */
export function constraintOf(agent: Agent<unknown>, allowedTools: readonly string[] | undefined): Constraint | undefined {
  const machine = agent.options.strategy?.machine;
  if (machine === undefined) return undefined;
  const constraint = createConstraint(agent, machine);
  return allowedTools === undefined ? constraint : narrowed(constraint, allowedTools);
}

function createConstraint(agent: Agent<unknown>, machine: StateMachine): Constraint {
  const sets = new Map<string, ToolSet>();
  const toolsIn = (state: string): ToolSet => {
    let set = sets.get(state);
    if (set === undefined) sets.set(state, (set = createToolRegistry(available(agent.tools, machine, state)).snapshot()));
    return set;
  };
  return { machine, toolsIn, schemasIn: (state) => toolsIn(state).schemas() };
}

function narrowed({ machine, toolsIn, schemasIn }: Constraint, allowed: readonly string[]): Constraint {
  const lists = new Map<string, readonly ToolSchema[]>();
  return {
    machine,
    toolsIn,
    schemasIn(state) {
      let list = lists.get(state);
      if (list === undefined) {
        const tools = toolsIn(state);
        list = schemasIn(state).filter(({ name }) => allowed.includes(name) || isTransitionTool(tools.get(name) as Tool));
        lists.set(state, list);
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

export function bindConstraint({ parts, agent, authority }: Loop): void {
  parts.set(CONSTRAINT, constraintOf(agent, authority.allowedTools));
}
