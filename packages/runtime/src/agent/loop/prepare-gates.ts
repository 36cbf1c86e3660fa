import type { JsonValue } from "@keelson/protocol";
import { prepareCall, type CallArguments } from "../../tools/prepare-call.ts";
import { whatThereIs } from "../features/strategies/enforce-strategy.ts";
import type { Gate } from "../turn/moments.ts";
import { refuse, type PendingCall } from "../turn/pending-call.ts";

export const findGate: Gate = {
  name: "find",
  async pass(loop, call) {
    const found = loop.tools.find(call.part.name);
    if (found.ok) call.tool = found.tool;
    else refuse(call, whatThereIs(loop, call.part.name) ?? found.failure.message);
  },
};

/** Reads the arguments, repairs what is safe to repair, and holds them against the tool's schema. */
export const parseGate: Gate = { name: "parse and validate", pass: async (_loop, call) => take(call, call.part) };

/** Rules may change the arguments, give a result in the tool's place, or halt; what they changed is validated again. */
export const transformGate: Gate = {
  name: "transform",
  async pass(loop, call) {
    if (!loop.context.watches("execute-tool", "before")) return;
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
      await validateInput(call);
    }
  },
};

/** Holds arguments that are no longer those that the model wrote against the tool's schema. */
export async function validateInput(call: PendingCall): Promise<void> {
  await take(call, { input: call.input ?? null });
}

async function take(call: PendingCall, given: CallArguments): Promise<void> {
  if (!call.tool) return;
  const prepared = await prepareCall(call.tool, given);
  if (prepared.ok) {
    call.input = prepared.input;
    call.value = prepared.value;
  } else {
    refuse(call, prepared.message);
    call.invalid = true;
  }
}
