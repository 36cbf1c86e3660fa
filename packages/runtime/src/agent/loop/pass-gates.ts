import { panicError, type CallEffects, type JsonValue, type Tool } from "@keelson/protocol";
import { isDispatchTool } from "../../tools/dispatch-tool.ts";
import { prepareCall, type CallArguments, type PreparedCall } from "../../tools/prepare-call.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import type { CompiledPolicy } from "../definition/permissions/compiled-policy.ts";
import { decidePermission } from "../features/permissions/decide-permission.ts";
import { grantsFor } from "../definition/permissions/granted-rules.ts";
import { passHooks } from "../features/hooks/tool-hooks.ts";
import { checkStrategy, whatThereIs } from "../features/strategies/hold-to-strategy.ts";
import { isTransitionTool } from "../definition/strategies/transition-tool.ts";
import { argumentsText, guardKey } from "../turn/call-key.ts";
import { repeats } from "./loop-guard.ts";
import { refuse, type PendingCall } from "../turn/pending-call.ts";
import { constraintOn } from "../features/strategies/constraint.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";

/** A gate lets a call through, answers it, or wants a person asked. */
interface Gate {
  readonly name: string;
  /** Whether a run has such a gate. Default: every run has. */
  isUsed?(loop: Loop): boolean;
  pass(loop: Loop, call: PendingCall): void | Promise<void>;
}

const ENTRANCE: readonly Gate[] = [
  { name: "find", pass: findTool },
  { name: "parse and validate", pass: parseAndValidate },
  { name: "transform", pass: transform },
];
/** Arguments edited by an approver go through these again. */
const POLICY: readonly Gate[] = [
  { name: "strategy", isUsed: (loop) => constraintOn(loop) !== undefined, pass: checkStrategy },
  { name: "permission", pass: checkPermission },
  { name: "loop guard", pass: guardLoops },
  { name: "tool-call limit", pass: limitCalls },
  { name: "pre-tool-use hooks", isUsed: (loop) => hooksOf(loop) !== undefined, pass: passHooks },
];

const GATES: readonly Gate[] = [...ENTRANCE, ...POLICY];

/**
 * Takes a call through the gates, in their order, until one answers it. A verdict to ask is left for the last gate, the approval.
 * A promise only where a gate waits for something.
 */
export function passGates(loop: Loop, call: PendingCall, gates: readonly Gate[] = GATES): void | Promise<void> {
  for (let index = 0; index < gates.length && call.answer === undefined; index++) {
    const gate = gates[index] as Gate;
    if (gate.isUsed?.(loop) === false) continue;
    const waiting = gate.pass(loop, call);
    if (waiting !== undefined) {
      return waiting.then(() => {
        loop.debug?.(verdictAt(gate, call));
        return passGates(loop, call, gates.slice(index + 1));
      });
    }
    loop.debug?.(verdictAt(gate, call));
  }
  return undefined;
}

export async function passEditedArguments(loop: Loop, call: PendingCall, input: JsonValue): Promise<void> {
  delete call.ask;
  delete call.always;
  delete call.invalid;
  call.input = input;
  await validate(loop, call);
  await passGates(loop, call, POLICY);
}

function verdictAt({ name }: Gate, call: PendingCall): string {
  return `${call.part.name} ${call.part.id}, gate "${name}": ${verdictOf(call)}`;
}

function verdictOf({ answer, ask }: PendingCall): string {
  if (answer !== undefined)
    return `${answer.isError ? "refused" : "answered"}: ${typeof answer.output === "string" ? answer.output : JSON.stringify(answer.output)}`;
  return ask === undefined ? "passed" : `asks: ${ask}`;
}

function findTool(loop: Loop, call: PendingCall): void {
  const found = loop.tools.find(call.part.name);
  if (found.ok) call.tool = found.tool;
  else refuse(call, whatThereIs(loop, call.part.name) ?? found.failure.message);
}

/** Holds arguments that are no longer those that the model wrote against the tool's schema. */
function validate(loop: Loop, call: PendingCall): void | Promise<void> {
  return parseAndValidate(loop, call, { input: call.input ?? null });
}

/** Reads the arguments, repairs what is safe to repair, and holds them against the tool's schema. */
function parseAndValidate(_loop: Loop, call: PendingCall, given: CallArguments = call.part): void | Promise<void> {
  if (!call.tool) return undefined;
  const prepared = prepareCall(call.tool, given);
  return prepared instanceof Promise ? prepared.then((waited) => take(call, waited)) : take(call, prepared);
}

function take(call: PendingCall, prepared: PreparedCall): void {
  if (!prepared.ok) return refuseInvalid(call, prepared.message);
  call.input = prepared.input;
  call.value = prepared.value;
}

function refuseInvalid(call: PendingCall, message: string): void {
  refuse(call, message);
  call.invalid = true;
}

/** Rules may change the arguments, answer in the tool's place, or halt; what they changed is validated again. */
function transform(loop: Loop, call: PendingCall): void | Promise<void> {
  if (!loop.context.watches("execute-tool", "before")) return undefined;
  const before = call.input ?? null;
  const judging = loop.context.run<Transformed>({
    type: "execute-tool",
    phase: "before",
    key: call.key,
    input: { name: call.tool?.name ?? call.part.name, input: before },
    execute: (_context, input) => ({ input: (input as { readonly input: JsonValue }).input }),
    accept: (output) => ({ skipped: output }),
  });
  return judging instanceof Promise ? judging.then((result) => heed(loop, call, before, result)) : heed(loop, call, before, judging);
}

type Transformed = { readonly input: JsonValue } | { readonly skipped: JsonValue };

function heed(loop: Loop, call: PendingCall, before: JsonValue, result: Transformed): void | Promise<void> {
  if ("skipped" in result) call.answer = { output: result.skipped, isError: false };
  else if (result.input !== before) {
    call.input = result.input;
    return validate(loop, call);
  }
}

function checkPermission(loop: Loop, call: PendingCall): void | Promise<void> {
  const { tool } = call;
  if (!tool) return undefined;
  if (tool.effectsOf === undefined || !loop.policies.some(looksAtEffects)) return judge(loop, call, tool, undefined);
  const effects = effectsOf(loop, tool, call);
  return effects instanceof Promise ? effects.then((waited) => judge(loop, call, tool, waited)) : judge(loop, call, tool, effects);
}

function judge(loop: Loop, call: PendingCall, tool: Tool, effects: CallEffects | undefined): void {
  if (effects?.reads !== undefined) call.reads = effects.reads;
  const decision = decidePermission({
    policies: loop.policies,
    // What a child does is judged call by call, under the same policies: starting it changes nothing by itself.
    tool: isDispatchTool(tool) ? { name: tool.name, effect: "read", risk: tool.risk } : tool,
    argumentText: () => permissionTextOf(tool, call),
    argumentsJson: () => argumentsText(call),
    effects,
    cwd: loop.agent.options.cwd,
    // What the strategy adds is in no list that an author wrote.
    allowedTools: isTransitionTool(tool) ? undefined : loop.authority.allowedTools,
    grants: grantsFor(sessionOf(loop).grants, tool.name),
  });
  if (decision.behavior === "deny") refuse(call, `Not permitted: ${decision.reason}`);
  else if (decision.behavior === "ask") {
    call.ask = decision.reason;
    if (decision.always !== undefined) call.always = decision.always;
  }
}

/** Where everything runs whatever it does, nobody needs to know what that is. */
function looksAtEffects({ mode, rules }: CompiledPolicy): boolean {
  return mode !== "bypass-all" || rules.length > 0;
}

/** Pure, like what follows: it is asked again on replay. */
function effectsOf(loop: Loop, tool: Tool, call: PendingCall): CallEffects | undefined | Promise<CallEffects | undefined> {
  const { cwd } = loop.agent.options;
  const failed = (thrown: unknown): never => {
    throw panicError(`effectsOf of ${tool.name}`, thrown);
  };
  try {
    const effects = tool.effectsOf?.(call.value, cwd === undefined ? {} : { cwd });
    return effects instanceof Promise ? effects.catch(failed) : effects;
  } catch (thrown) {
    return failed(thrown);
  }
}

/** What rules about arguments are held against. */
function permissionTextOf(tool: Tool, call: PendingCall): string {
  try {
    return tool.permissionText?.(call.value) ?? argumentsText(call);
  } catch (thrown) {
    throw panicError(`permissionText of ${tool.name}`, thrown);
  }
}

function guardLoops(loop: Loop, call: PendingCall): void {
  if (loop.agent.options.loopGuard === false || !call.tool) return;
  const { calls } = runOf(loop).turnBase;
  if (calls.length < 2) return;
  const repeated = repeats(guardKey(call.tool.name, call), calls);
  if (repeated !== undefined) refuse(call, repeated);
}

function limitCalls(loop: Loop, call: PendingCall): void {
  const { maxToolCalls } = loop.limits;
  if (maxToolCalls !== undefined && runOf(loop).turnBase.toolCalls + call.index >= maxToolCalls)
    refuse(call, `budget-exhausted: the limit of ${maxToolCalls} tool calls is reached. Answer with what you have.`);
}
