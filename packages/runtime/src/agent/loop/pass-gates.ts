import type { JsonValue } from "@keelson/protocol";
import { whatThereIs } from "../features/strategies/enforce-strategy.ts";
import { explainTool } from "../features/tool-sources/explain-tool.ts";
import { takeTool } from "../features/tool-sources/take-tool.ts";
import type { Loop } from "../turn/loop.ts";
import { momentsOf, type Gate } from "../turn/moments.ts";
import { refuse, type ArrivedCall, type AskingCall, type OpenCall, type SettledCall } from "../turn/pending-call.ts";
import type { FoundTool } from "../../tools/tool-registry.ts";
import type { CallArguments } from "../../tools/prepare-call.ts";
import { fitArguments } from "./fit-arguments.ts";

/** Finds the tool of a call, holds the arguments against it, then takes it through the gates, in their order, until one settles it. */
export async function passGates(loop: Loop, call: ArrivedCall): Promise<OpenCall | SettledCall> {
  const named = loop.tools.find(call.part.name, call.part.input);
  const { found, given } = redirected(loop, call, named);
  if (!found.ok) {
    const settled = refuse(call, whatThereIs(loop, call.part.name) ?? found.failure.message, "no-such-tool");
    tellVerdict(loop, "find", settled);
    return settled;
  }
  const tool = await takeTool(loop, call, found.tool);
  if ("state" in tool) {
    tellVerdict(loop, "find", tool);
    return tool;
  }
  tellVerdict(loop, "find", call);
  const fitting = explainTool(loop, await fitArguments(call, tool, given));
  tellVerdict(loop, "parse and validate", fitting);
  return fitting.state === "settled" ? fitting : pass(loop, fitting, momentsOf(loop).gates);
}

/** The tool that a call means, and its arguments. */
function redirected(
  { tools }: Loop,
  { part }: ArrivedCall,
  found: FoundTool,
): { readonly found: FoundTool; readonly given: CallArguments } {
  const redirect = found.ok && part.input !== undefined ? found.tool.redirect?.(part.input) : undefined;
  const tool = redirect && tools.get(redirect.tool);
  return redirect === undefined || tool === undefined
    ? { found, given: part }
    : { found: { ok: true, tool }, given: { input: redirect.input } };
}

/** Takes a call with arguments that an approver edited through the gates that look at them. */
export async function passEditedArguments(loop: Loop, call: AskingCall, input: JsonValue): Promise<OpenCall | SettledCall> {
  const fitting = await fitArguments({ ...call, input, edits: call.edits + 1 }, call.tool, { input });
  return fitting.state === "settled"
    ? fitting
    : pass(
        loop,
        fitting,
        momentsOf(loop).gates.filter(({ skipsEdited }) => skipsEdited !== true),
      );
}

async function pass(loop: Loop, call: OpenCall, gates: readonly Gate[]): Promise<OpenCall | SettledCall> {
  let passing = call;
  for (const gate of gates) {
    if (gate.applies?.(loop) === false) continue;
    const next = await gate.pass(loop, passing);
    tellVerdict(loop, gate.name, next);
    if (next.state === "settled") return next;
    passing = next;
  }
  return passing;
}

function tellVerdict(loop: Loop, gate: string, call: ArrivedCall | OpenCall | SettledCall): void {
  loop.debug?.(`${call.part.name} ${call.part.id}, gate "${gate}": ${verdictOn(call)}`);
}

function verdictOn(call: ArrivedCall | OpenCall | SettledCall): string {
  if (call.state === "asking") return `asks: ${call.reason}`;
  if (call.state !== "settled") return "passed";
  const { output, isError } = call.result;
  return `${isError ? "refused" : "answered"}: ${typeof output === "string" ? output : JSON.stringify(output)}`;
}
