import type { JsonObject, JsonValue, Tool } from "@keelson/protocol";
import { canonicalJson, shortHash } from "../../../json/index.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../tools/tool-definition.ts";

/** What the tool is called that takes actions which are no tools. */
export const TRANSITION_TOOL = "transition";

/** The generated tool. The loop itself runs it: all that it does is to move the machine. */
export interface TransitionTool extends Tool<{ readonly action: string; readonly input?: JsonValue }> {
  readonly movesMachine: true;
}

/** @param actions those that may be taken, with what the model is told of them */
export function transitionTool(actions: ReadonlyMap<string, string | undefined>): TransitionTool {
  const names = [...actions.keys()];
  const told = [...actions].map(([action, description]) => (description === undefined ? action : `${action}: ${description}`));
  const inputSchema: JsonObject = {
    type: "object",
    properties: {
      action: { type: "string", enum: names, description: told.join("\n") },
      input: { description: "What the action is about, where it depends on that." },
    },
    required: ["action"],
    additionalProperties: false,
  };
  return {
    name: TRANSITION_TOOL,
    description: "Takes you to the next state of your task, in which other tools are there.",
    inputSchema,
    effect: "read",
    concurrency: "exclusive",
    risk: "none",
    version: shortHash(canonicalJson(inputSchema)),
    aliases: [],
    maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    movesMachine: true,
    parse(input) {
      const { action, input: about } = (input ?? {}) as { readonly action?: unknown; readonly input?: JsonValue };
      if (typeof action !== "string" || !actions.has(action))
        return { issues: [{ message: `action must be one of ${names.join(", ")}`, path: ["action"] }] };
      return { value: { action, ...(about !== undefined && { input: about }) } };
    },
    execute() {
      throw new TypeError(`"${TRANSITION_TOOL}" is handled by the loop itself, not called`);
    },
  };
}

export function isTransitionTool(tool: Tool): tool is TransitionTool {
  return "movesMachine" in tool;
}
