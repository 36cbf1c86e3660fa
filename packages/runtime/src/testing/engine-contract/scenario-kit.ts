import { openSync, closeSync } from "node:fs";
import { join } from "node:path";
import type { InferRequest, JsonValue, Tool, ToolCall, ToolEffect } from "@keelson/protocol";
import type { Agents, Runner } from "../../agent/index.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import { shortHash } from "../../json/digest.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel, type ScriptedModel, type ScriptedResponse } from "../scripted-model.ts";
import { countCall, countedCalls } from "./tool-counters.ts";

/** What a model of a scenario responds: `answered` is how many responses of it the conversation holds. */
export type ScenarioTurn = string | ScriptedResponse | ((request: InferRequest) => string | ScriptedResponse);

export interface ScenarioToolOptions {
  readonly output?: JsonValue | ((input: JsonValue, call: ToolCall) => JsonValue | Promise<JsonValue>) | undefined;
  /** Fails with this. */
  readonly fails?: string | undefined;
  /** Whether it can tell after a crash if it ran. */
  readonly canTell?: boolean | undefined;
  readonly concurrency?: Tool["concurrency"] | undefined;
  readonly risk?: Tool["risk"] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly input?: { readonly [name: string]: JsonValue } | undefined;
}

/** What agents of scenarios are made of: parts that behave alike in every process. */
export interface ScenarioKit {
  /** A tool that, unless it only reads, leaves a line outside of the process each time it runs. */
  tool(name: string, effect: ToolEffect, options?: ScenarioToolOptions): Tool;
  /** Responds by how many responses of a model the conversation holds, and knows nothing else: any process goes on with it. */
  model(turns: readonly ScenarioTurn[], options?: { readonly price?: ModelPrice; readonly name?: string }): ScriptedModel;
  /** True once, in whatever process. */
  once(place: string): boolean;
  /** The runner of this process: for tools that write to their own session. */
  runner(): Runner<Agents>;
}

/** A model of a scenario is called so often at most in one process. */
const MAX_CALLS = 500;

export function createScenarioKit(directory: string, runner: () => Runner<Agents>): ScenarioKit {
  return {
    runner,
    tool: (name, effect, options = {}) => scenarioTool(directory, name, effect, options),
    model(turns, options = {}) {
      const turn = (request: InferRequest): string | ScriptedResponse => {
        const answered = request.messages.filter(({ role }) => role === "assistant").length;
        const response = turns[answered] ?? `There is nothing left to say after ${answered} responses.`;
        return typeof response === "function" ? response(request) : response;
      };
      return scriptedModel(
        Array.from({ length: MAX_CALLS }, () => turn),
        options,
      );
    },
    once(place) {
      try {
        closeSync(openSync(join(directory, `once-${shortHash(place)}`), "wx"));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
        throw error;
      }
    },
  };
}

function scenarioTool(directory: string, name: string, effect: ToolEffect, options: ScenarioToolOptions): Tool {
  const { output = `${name} is done`, fails, canTell = false, input = { type: "object" }, ...fields } = options;
  const give = async (given: JsonValue, call: ToolCall): Promise<JsonValue> =>
    typeof output === "function" ? output(given, call) : output;
  return defineTool<JsonValue>({
    name,
    description: `Does ${name}.`,
    effect,
    input: input as never,
    ...fields,
    async execute(given: JsonValue, call: ToolCall) {
      const { session, callId, idempotencyKey, attempt } = call;
      if (effect !== "read")
        countCall(directory, {
          session,
          callId,
          tool: name,
          effect,
          idempotencyKey,
          attempt,
          ...(fails !== undefined && { failure: fails }),
        });
      if (fails !== undefined) throw new Error(fails);
      return give(given, call);
    },
    ...(canTell && {
      async reconcile(given: JsonValue, call: ToolCall) {
        const hasRun = countedCalls(directory, call.session).some(({ idempotencyKey }) => idempotencyKey === call.idempotencyKey);
        return hasRun ? { output: await give(given, call) } : "not-done";
      },
    }),
  } as never) as Tool;
}
