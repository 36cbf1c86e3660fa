import type { AlwaysChoice, JsonValue, StepResult, Tool, ToolCallPart, ToolEffect } from "@keelson/protocol";
import type { ShownQuestion } from "../definition/permissions/permission-decision.ts";
import type { Suspension } from "../../session/suspension.ts";
import type { Admission } from "./declaration.ts";
import type { CallExecution, SuspendedExecution } from "./call-execution.ts";

/**
 * A call on its way. The functions below say where it can go from each state; whoever takes it on puts the next state in its place.
 *
 *     arrived ─► ready ◄─► asking      the gates, and the people that they want asked
 *        │         │ └───────┐│
 *        │      running      ││
 *        │       │    │      ││
 *        ▼       ▼    ▼      ▼▼
 *     settled executed waiting settled
 *
 * A call that waits for the answer to what it asked is ready again once that is there.
 */
export type PendingCall = ArrivedCall | OpenCall | RunningCall | EndedCall;

/** It passed the gates so far and can still run. */
export type OpenCall = ReadyCall | AskingCall;

/** It has its result, or waits for something outside of this process. */
export type EndedCall = SettledCall | ExecutedCall | WaitingCall;

interface AnyCall {
  readonly part: ToolCallPart;
  /** Place in the log: `<turn>/call/<callId>`. */
  readonly key: string;
  /** Among the calls of its response, from 0. */
  readonly index: number;
}

/** The model asked for it; nobody has looked at it yet. */
export interface ArrivedCall extends AnyCall {
  readonly state: "arrived";
}

/** What a call has once its tool is found and takes its arguments. */
export interface FittingCall extends AnyCall {
  readonly tool: Tool;
  /** The final arguments, once parsed, validated and transformed. */
  readonly input: JsonValue;
  /** What the tool's schema made of them (defaults, transforms): what it is executed with. */
  readonly value: unknown;
  /** The effect of its tool, or a lesser one that its `effectsOf` names. */
  readonly effect: ToolEffect;
  /** What it reads, and which secrets it uses, as its tool said. */
  readonly reads: readonly string[];
  readonly secrets: readonly string[];
  /** Edits by approvers so far. */
  readonly edits: number;
  guarded?: GuardedArguments;
}

/** The canonical JSON of arguments, and what the loop guard knows a call by. */
export interface GuardedArguments {
  readonly input: JsonValue | undefined;
  readonly text: string;
  key?: string;
}

export interface ReadyCall extends FittingCall {
  readonly state: "ready";
}

/** A gate wants a person's word. */
export interface AskingCall extends FittingCall {
  readonly state: "asking";
  readonly reason: string;
  /** What a person may allow for good; absent where some gate would ask all the same. */
  readonly always: readonly AlwaysChoice[] | undefined;
  /** Absent: the reason is all that there is to read. */
  readonly shown?: ShownQuestion;
}

export interface RunningCall extends FittingCall {
  readonly state: "running";
  /** Which of its executions this is, from 1. */
  readonly number: number;
  /** Effects that the execution declares; they count with its result. */
  readonly declared: Admission[];
  /** Where text that it came across is from that nobody vouches for. */
  readonly marks: string[];
  /** Values that it keeps for the session; they count with its result. */
  readonly keeps: Map<string, JsonValue>;
}

/** It ran in this process. */
export interface ExecutedCall extends FittingCall {
  readonly state: "executed";
  readonly declared: readonly Admission[];
  readonly marks: readonly string[];
  readonly keeps: ReadonlyMap<string, JsonValue>;
  readonly result: CallExecution & { readonly durationMs: number };
}

/** A child that it started waits, or it asked something that nobody has answered: so the run waits. */
export interface WaitingCall extends FittingCall {
  readonly state: "waiting";
  readonly suspension: Suspension;
}

/** It has its result without an execution in this process. */
export interface SettledCall extends AnyCall {
  readonly state: "settled";
  readonly why: SettledBy;
  readonly result: { readonly output: JsonValue; readonly isError: boolean };
  /** Absent where there is none of its name, or nobody looked. */
  readonly tool?: Tool;
  /** Absent where its arguments were never valid. */
  readonly input?: JsonValue;
  guarded?: GuardedArguments;
}

export type SettledBy =
  /** A gate, a person or the state of the run keeps it from running. */
  | "refused"
  | "no-such-tool"
  | "invalid-arguments"
  /** The user steered away before it started. */
  | "skipped"
  /** A rule gave its result in the tool's place. */
  | "replaced"
  /** A person who knew that it may have run said that it counts as failed. */
  | "given-up"
  /** It did run, not as an execution in this process: its tool or a person said how, or the loop itself is what executes it. */
  | "ran";

export function arrivedCall(part: ToolCallPart, turn: string, index: number): ArrivedCall {
  return { state: "arrived", part, key: `${turn}/call/${part.id}`, index };
}

/** A call whose arguments fit, as they are now. */
export function readyCall(call: ArrivedCall | OpenCall, { tool, input, value }: Pick<FittingCall, "tool" | "input" | "value">): ReadyCall {
  const { part, key, index } = call;
  const { reads, secrets, edits } = call.state === "arrived" ? UNTOUCHED : call;
  return { state: "ready", part, key, index, tool, input, value, effect: tool.effect, reads, secrets, edits };
}
const UNTOUCHED: Pick<FittingCall, "reads" | "secrets" | "edits"> = { reads: [], secrets: [], edits: 0 };

/** Has a person asked, for this reason. @param always what they may allow for good */
export function askAbout(
  { shown: _, ...call }: OpenCall & { readonly shown?: ShownQuestion },
  reason: string,
  always?: readonly AlwaysChoice[],
  shown?: ShownQuestion,
): AskingCall {
  return { ...call, state: "asking", reason, always, ...(shown && { shown }) };
}

/** Lets a call run that people were asked about. */
export function allow(call: AskingCall): ReadyCall {
  const { reason: _reason, always: _always, shown: _shown, ...fitting } = call;
  return { ...fitting, state: "ready" };
}

/** @param number which of its executions this is */
export function startCall(call: ReadyCall, number: number): RunningCall {
  return { ...call, state: "running", number, declared: [], marks: [], keeps: new Map() };
}

/** A call whose execution came to its end, also where it threw. */
export function endedCall(call: RunningCall, result: StepResult<CallExecution | SuspendedExecution>): ExecutedCall | WaitingCall {
  const { number: _number, declared, marks, keeps, ...fitting } = call;
  if (!result.ok) return executed({ output: result.failure.message, isError: true });
  if ("suspended" in result.value) return { ...fitting, state: "waiting", suspension: result.value.suspended };
  return executed(result.value);

  function executed(execution: CallExecution): ExecutedCall {
    return {
      ...fitting,
      state: "executed",
      declared,
      marks,
      keeps,
      result: { ...execution, durationMs: result.endedAt - result.startedAt },
    };
  }
}

/** A call that was ended for a question is made again. */
export function callAgain({ suspension: _suspension, ...fitting }: WaitingCall): ReadyCall {
  return { ...fitting, state: "ready" };
}

/** Ends a call here, with a result that no execution in this process gave. */
export function settleCall(call: ArrivedCall | OpenCall | SettledCall, why: SettledBy, result: SettledCall["result"]): SettledCall {
  const { part, key, index } = call;
  const settled: SettledCall = { state: "settled", part, key, index, why, result };
  if (call.state === "arrived") return settled;
  const { tool, input, guarded } = call;
  return { ...settled, ...(tool && { tool }), ...(input !== undefined && { input }), ...(guarded && { guarded }) };
}

/** Ends a call here, with an error that the model can act on. */
export function refuse(call: ArrivedCall | OpenCall | SettledCall, message: string, why: SettledBy = "refused"): SettledCall {
  return settleCall(call, why, { output: message, isError: true });
}

/** What a call is of, in the words of the tool where there is one. */
export function toolNameOf(call: PendingCall): string {
  return (call.state === "arrived" ? undefined : call.tool?.name) ?? call.part.name;
}
