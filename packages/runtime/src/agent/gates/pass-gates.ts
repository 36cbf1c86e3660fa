import type { JsonValue } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../json/index.ts";
import { prepareCall } from "../../tools/prepare-call.ts";
import { runOf, sessionOf, type Loop } from "../loop/loop.ts";
import { decidePermission, readsArguments } from "../permissions/decide-permission.ts";
import { repeats } from "./loop-guard.ts";
import { refuse, type PendingCall } from "./pending-call.ts";

/** A gate lets a call through, answers it, or wants a person asked. */
type Gate = (loop: Loop, call: PendingCall) => void | Promise<void>;

const ENTRANCE: readonly Gate[] = [findTool, parseAndValidate, transform];
const POLICY: readonly Gate[] = [checkPermission, guardLoops, limitCalls];

/** Takes a call through the gates, in their order, until one answers it. A verdict to ask is left for the last gate, the approval. */
export async function passGates(loop: Loop, call: PendingCall): Promise<void> {
  await pass(loop, call, ENTRANCE);
  await pass(loop, call, POLICY);
}

/** The gates that arguments edited by an approver go through again. */
export async function passEditedArguments(loop: Loop, call: PendingCall, input: JsonValue): Promise<void> {
  delete call.ask;
  delete call.invalid;
  call.input = input;
  await validate(loop, call);
  await pass(loop, call, POLICY);
}

async function pass(loop: Loop, call: PendingCall, gates: readonly Gate[]): Promise<void> {
  for (const gate of gates) {
    if (call.answer !== undefined) return;
    const waiting = gate(loop, call);
    if (waiting !== undefined) await waiting;
  }
}

function findTool(loop: Loop, call: PendingCall): void {
  const found = loop.tools.find(call.part.name);
  if (found.ok) call.tool = found.tool;
  else refuse(call, found.failure.message);
}

async function parseAndValidate(_loop: Loop, call: PendingCall): Promise<void> {
  const { tool, part } = call;
  if (!tool) return;
  const preparing = prepareCall(tool, part);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  if (prepared.ok) call.input = prepared.input as JsonValue;
  else refuseInvalid(call, prepared.message);
}

async function validate(_loop: Loop, call: PendingCall): Promise<void> {
  const { tool, input } = call;
  if (!tool) return;
  const prepared = await prepareCall(tool, { input: input ?? null, inputText: JSON.stringify(input ?? null) });
  if (prepared.ok) call.input = prepared.input as JsonValue;
  else refuseInvalid(call, prepared.message);
}

function refuseInvalid(call: PendingCall, message: string): void {
  refuse(call, message);
  call.invalid = true;
}

/** Rules may change the arguments, answer in the tool's place, or halt; what they changed is validated again. */
function transform(loop: Loop, call: PendingCall): void | Promise<void> {
  if (loop.context.rules.length === 0) return undefined;
  return transformByRules(loop, call);
}

async function transformByRules(loop: Loop, call: PendingCall): Promise<void> {
  const before = call.input ?? null;
  const result = await loop.context.run<{ readonly input: JsonValue } | { readonly skipped: JsonValue }>({
    type: "execute-tool",
    phase: "before",
    key: call.key,
    input: { name: call.tool?.name ?? call.part.name, input: before },
    execute: (_context, input) => ({ input: (input as { readonly input: JsonValue }).input }),
    accept: (output) => ({ skipped: output }),
  });
  if ("skipped" in result) call.answer = { output: result.skipped, isError: false };
  else if (result.input !== before) {
    call.input = result.input;
    await validate(loop, call);
  }
}

function checkPermission(loop: Loop, call: PendingCall): void {
  const { tool } = call;
  if (!tool) return;
  const argumentText = readsArguments(loop.policies, tool.name) ? (tool.permissionText?.(call.input) ?? canonicalJson(call.input)) : "";
  const decision = decidePermission({ policies: loop.policies, tool, argumentText, allowedTools: loop.authority.allowedTools });
  if (decision.behavior === "deny") refuse(call, `Not permitted: ${decision.reason}`);
  else if (decision.behavior === "ask" && !sessionOf(loop).grants.has(tool.name)) call.ask = decision.reason;
}

function guardLoops(loop: Loop, call: PendingCall): void {
  if (loop.agent.options.loopGuard === false || !call.tool) return;
  const { calls } = runOf(loop).turnBase;
  if (calls.length < 2) return;
  const repeated = repeats(guardKey(call.tool.name, call.input), calls);
  if (repeated !== undefined) refuse(call, repeated);
}

function limitCalls(loop: Loop, call: PendingCall): void {
  const { maxToolCalls } = loop.limits;
  if (maxToolCalls !== undefined && runOf(loop).turnBase.toolCalls + call.index >= maxToolCalls) refuse(call, `budget-exhausted: the limit of ${maxToolCalls} tool calls is reached. Answer with what you have.`);
}

/** What the loop guard knows a call by. */
export function guardKey(tool: string, input: JsonValue | undefined): string {
  const text = canonicalJson(input);
  return `${tool}:${text.length <= 64 ? text : shortHash(text)}`;
}
