import type { JsonValue } from "@keelson/protocol";
import type { Loop } from "../turn/loop.ts";
import { momentsOf, type Gate } from "../turn/moments.ts";
import type { PendingCall } from "../turn/pending-call.ts";
import { validateInput } from "./prepare-gates.ts";

/** Takes a call through gates, in their order, until one gives it a result. A verdict to ask is left for the last gate, the approval. */
export async function passGates(loop: Loop, call: PendingCall, gates: readonly Gate[]): Promise<void> {
  for (const gate of gates) {
    if (call.answer !== undefined) return;
    if (gate.applies?.(loop) === false) continue;
    await gate.pass(loop, call);
    loop.debug?.(`${call.part.name} ${call.part.id}, gate "${gate.name}": ${verdictOf(call)}`);
  }
}

/** The same with arguments that an approver edited. */
export async function passEditedArguments(loop: Loop, call: PendingCall, input: JsonValue): Promise<void> {
  delete call.ask;
  delete call.always;
  delete call.invalid;
  call.input = input;
  await validateInput(call);
  await passGates(loop, call, momentsOf(loop).gatesOfEdited);
}

function verdictOf({ answer, ask }: PendingCall): string {
  if (answer !== undefined)
    return `${answer.isError ? "refused" : "answered"}: ${typeof answer.output === "string" ? answer.output : JSON.stringify(answer.output)}`;
  return ask === undefined ? "passed" : `asks: ${ask}`;
}
