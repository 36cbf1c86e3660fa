import { defineTool } from "keelson";
import type { ScriptedResponse } from "keelson/testing";
import type { Directive, Tool } from "@keelson/protocol";

/** Declares directives: what the model asks for is done at the end of its turn. */
export function declaring(): Tool {
  return defineTool({
    name: "declare",
    description: "Declares directives.",
    effect: "idempotent",
    input: { type: "object" },
    execute(input, call) {
      for (const directive of (input as unknown as { readonly directives: readonly Directive[] }).directives)
        call.declare?.({ type: "directive", directive });
      return "declared";
    },
  }) as Tool;
}

/** A response that declares them. */
export function declare(...directives: readonly Directive[]): ScriptedResponse {
  return { toolCalls: [{ name: "declare", input: { directives: directives as never } }] };
}
