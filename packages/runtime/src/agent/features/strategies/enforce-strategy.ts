import { AgentError, StrategyError, type ActionId, type FsmStateId, type JsonValue, type Tool, type ToolSchema } from "@keelson/protocol";
import type { SessionState } from "../../../session/session-state.ts";
import { sessionError } from "../../../session/session-error.ts";
import type { Agent } from "../../definition/agent.ts";
import { refuse, settleCall, type EndedCall, type OpenCall, type ReadyCall, type SettledCall } from "../../turn/pending-call.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { quoted, type StateMachine } from "../../definition/strategies/state-machine.ts";
import { isTransitionTool, TRANSITION_TOOL } from "../../definition/strategies/transition-tool.ts";
import { constraintOn, type Constraint } from "./constraint.ts";
import type { Gate } from "../../turn/moments.ts";

/** The state that a run of this agent begins in. @throws AgentError of kind `session` when the session is in one that the machine lacks */
export function firstState(session: SessionState, { name, options }: Agent<unknown>): FsmStateId | undefined {
  const machine = options.strategy?.machine;
  if (machine === undefined) return undefined;
  const left = machine.scope === "session" ? session.strategyStates.get(name) : undefined;
  return left === undefined ? machine.initial : knownState(session, name, machine, left);
}

/** Before a run goes on: its definition may have changed. @throws AgentError of kind `session` */
export function checkState(session: SessionState, { name, options }: Agent<unknown>): void {
  const machine = options.strategy?.machine;
  const state = session.run?.strategyState;
  if (machine !== undefined && state !== undefined) knownState(session, name, machine, state);
}

function knownState({ id }: SessionState, agent: string, machine: StateMachine, state: string): FsmStateId {
  if (machine.states.has(state as FsmStateId)) return state as FsmStateId;
  throw sessionError(
    id,
    `Session "${id}" is in the state "${state}", which the strategy of the agent "${agent}" no longer has; it has ${quoted([...machine.states])}. Go on with a definition that has it, or in another session.`,
  );
}

/** What the model is told of: the tools that it may call in the state that the run is in. */
export function schemasOf(loop: Loop): readonly ToolSchema[] {
  const constraint = constraintOn(loop);
  return constraint === undefined ? loop.schemas : constraint.schemasIn(stateOf(loop, constraint.machine));
}

/** Refuses what was not possible when the calls were asked for. Guards are pure and asked again on replay. */
export const strategyGate: Gate = {
  name: "strategy",
  applies: (loop) => constraintOn(loop) !== undefined,
  async pass(loop, call) {
    const constraint = constraintOn(loop);
    return constraint === undefined ? call : refuseImpossible(loop, call, runOf(loop).callsState ?? stateOf(loop, constraint.machine));
  },
};

/** For a call of a tool that the agent does not have: what there is in the state of the run, where it has one. */
export function whatThereIs(loop: Loop, name: string): string | undefined {
  const constraint = constraintOn(loop);
  if (constraint === undefined) return undefined;
  const { machine, toolsIn } = constraint;
  const found = toolsIn(runOf(loop).callsState ?? stateOf(loop, machine)).find(name);
  return found.ok ? undefined : found.failure.message;
}

/** Just before a call starts: a call before it, or a signal, may have moved the machine since the gate. */
export function checkMoved(loop: Loop, call: ReadyCall): ReadyCall | SettledCall {
  const constraint = constraintOn(loop);
  if (constraint === undefined) return call;
  const { callsState } = runOf(loop);
  const state = stateOf(loop, constraint.machine);
  return callsState !== undefined && state !== callsState ? refuseImpossible(loop, call, state) : call;
}

/** Whether the call must run alone because it may move the machine, under all that comes after it. */
export function mayMove(loop: Loop, call: ReadyCall): boolean {
  const constraint = constraintOn(loop);
  return constraint !== undefined && (isTransitionTool(call.tool) || constraint.machine.moves(call.tool.name));
}

/** Tells the model where a call of the generated tool leads; it moves with the result, like any other. */
export function runTransition(loop: Loop, call: ReadyCall): ReadyCall | SettledCall {
  const machine = constraintOn(loop)?.machine;
  if (machine === undefined) return call;
  const to = attempt(machine, stateOf(loop, machine), actionOf(call.tool, call.input));
  if (typeof to !== "string") return refuse(call, to.message);
  return settleCall(call, "ran", { output: `Now in the state "${to}". ${possibleIn(loop, to)}`, isError: false });
}

/** Moves the machine for an action that is done, in the append of its result. A call that is no transition by now moves nothing. */
export function moveFor(loop: Loop, call: EndedCall): void {
  const machine = constraintOn(loop)?.machine;
  if (machine === undefined || call.tool === undefined) return;
  const done = actionOf(call.tool, call.input ?? null);
  if (!machine.actions.has(done.action as ActionId)) return;
  const to = attempt(machine, stateOf(loop, machine), done);
  if (typeof to === "string") moveTo(loop, machine, `${call.key}/strategy`, to, { action: done.action, callId: call.part.id });
}

/** Moves the machine by a signal, to any state that it has. @returns why it could not be done */
export function moveBySignal(loop: Loop, key: string, to: string): string | undefined {
  const machine = constraintOn(loop)?.machine;
  if (machine === undefined) return `the agent "${loop.agent.name}" has no state machine to move to "${to}"`;
  if (!machine.states.has(to as FsmStateId)) return `there is no state "${to}" to move to; there are ${quoted([...machine.states])}`;
  moveTo(loop, machine, key, to, { signal: true });
  return undefined;
}

function moveTo(loop: Loop, machine: StateMachine, key: string, to: string, cause: { readonly [name: string]: JsonValue }): void {
  const from = stateOf(loop, machine);
  if (from === to) return;
  loop.execution.put(key, "strategy-state", { agent: loop.agent.name, state: to, from, ...cause });
  loop.execution.emit({ type: "status", status: `state "${from}" -> "${to}"`, level: "info" });
}

function stateOf(loop: Loop, machine: StateMachine): string {
  // A run that began when its agent had no strategy yet.
  return runOf(loop).strategyState ?? machine.initial;
}

interface Action {
  readonly action: string;
  readonly input: JsonValue;
}

/** The action that a call is: its tool's name, or what the generated tool is told. */
function actionOf(tool: Tool, input: JsonValue): Action {
  if (!isTransitionTool(tool)) return { action: tool.name, input };
  const { action, input: about = null } = input as { readonly action: string; readonly input?: JsonValue };
  return { action, input: about };
}

function refuseImpossible<C extends OpenCall>(loop: Loop, call: C, state: string): C | SettledCall {
  const machine = constraintOn(loop)?.machine;
  const wanted = actionOf(call.tool, call.input);
  if (machine === undefined || machine.toolsIn(state).includes(wanted.action)) return call;
  const refusal = attempt(machine, state, wanted);
  if (typeof refusal === "string") return call;
  return refuse(
    call,
    `${refusal.message} ${refusal.failure.kind === "guard-rejected" ? "It did not run. " : ""}${possibleIn(loop, state)}`,
  );
}

function attempt(machine: StateMachine, state: string, { action, input }: Action): string | StrategyError {
  try {
    return machine.next(state, action, input);
  } catch (error) {
    if (!StrategyError.is(error)) throw error;
    if (error.failure.kind === "execution")
      throw new AgentError({ kind: "panic", callback: `a guard of "${action}"`, message: error.message }, { cause: error });
    return error;
  }
}

/** How to act in a state, in words for the model. */
function possibleIn(loop: Loop, state: string): string {
  const constraint = constraintOn(loop) as Constraint;
  const { machine } = constraint;
  const offered = machine.actionsFrom(state).filter((action) => machine.offered.has(action));
  const names = constraint.schemasIn(state).flatMap(({ name }) => (name === TRANSITION_TOOL && offered.length > 0 ? [] : [name]));
  return [
    names.length === 0 ? "No tools are there now." : `Tools that are there now: ${names.join(", ")}.`,
    ...(offered.length === 0 ? [] : [`With the tool ${TRANSITION_TOOL}: ${offered.join(", ")}.`]),
  ].join(" ");
}
