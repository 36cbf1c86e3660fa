import type { InferRequest, JsonValue, Provider } from "@keelson/protocol";
import { type ScriptedResponse, scriptedModel } from "keelson/testing";
import type { Stage } from "./acting.ts";
import { never } from "./simulated-process.ts";
import type { PlannedResponse, Story } from "./story.ts";

/** Dollars per million tokens. */
export const PRICE = { input: "1", output: "10", asOf: "2026-01-01" } as const;
const INPUT_TOKENS = 10;

/** Whoever serves the models of a story: goes on with the script, whatever becomes of those who ask. */
export class Vendor {
  readonly #story: Story;
  readonly #said = { main: 0, child: 0, fallback: 0 };

  constructor(story: Story) {
    this.#story = story;
  }

  /** A model as one process reaches it. What it generates to the end is to be paid, whether or not anybody reads it. */
  model(part: "main" | "child" | "fallback", name: string, stage: Stage): Provider {
    const turn = async (request: InferRequest): Promise<ScriptedResponse> => {
      await stage.process.pass();
      return this.#response(part, request, stage);
    };
    const { spent } = stage.witness;
    const model = scriptedModel(
      Array.from({ length: 400 }, () => turn),
      { name, price: PRICE },
    );
    return {
      ...model,
      async *stream(request, options) {
        for await (const event of model.stream(request, options)) {
          if (event.type === "end") {
            const { inputTokens, outputTokens } = event.usage;
            spent.cost += BigInt((inputTokens ?? 0) + 10 * (outputTokens ?? 0)) * 1_000_000n;
            spent.tokens += (inputTokens ?? 0) + (outputTokens ?? 0);
          }
          yield event;
        }
      },
    };
  }

  #response(part: "main" | "child" | "fallback", request: InferRequest, { process, witness }: Stage): ScriptedResponse {
    const turns = { main: this.#story.turns, child: this.#story.childTurns, fallback: this.#story.fallbackTurns }[part];
    const planned = turns[this.#said[part]++];
    witness.inferences++;
    const outputTokens = Math.min(planned?.outputTokens ?? 5, request.maxTokens ?? Number.POSITIVE_INFINITY);
    const usage = { inputTokens: INPUT_TOKENS, outputTokens };
    if (planned === undefined) return { ...lastResponse(request), usage };
    const { text, thinking, calls, stopReason, error, waitMs = 0, chunkSize } = planned;
    return {
      usage,
      ...(text !== undefined && { text }),
      ...(thinking !== undefined && { thinking }),
      ...(stopReason && { stopReason }),
      ...(chunkSize !== undefined && { chunkSize }),
      ...(error && { error: { provider: "main", model: "model", ...error } as never }),
      ...(waitMs > 0 && { wait: Number.isFinite(waitMs) ? () => process.clock.sleep(waitMs) : never }),
      toolCalls: calls.map(({ name, input }, index) => ({ name, ...inputOf(name, input, index) })),
    };
  }
}

/** A response that ends a run, in the form that is asked for. */
export function lastResponse({ tools }: InferRequest): ScriptedResponse {
  const asked = tools?.some(({ name }) => name === "final_answer");
  return asked ? { toolCalls: [{ name: "final_answer", input: { n: 1 } }] } : { text: '{"n": 1}' };
}

function inputOf(
  name: string,
  input: PlannedResponse["calls"][number]["input"],
  index: number,
): { readonly input?: JsonValue; readonly inputText?: string } {
  switch (input) {
    case "good":
      if (name === "helper" || name === "aside") return { input: { task: `Help ${index}.` } };
      if (name === "transition") return { input: { action: "advance", input: { n: index } } };
      return { input: name === "listen" ? {} : { n: index % 2 } };
    case "empty":
      return { inputText: "" };
    case "truncated":
      return { inputText: '{"n": 1, "task": "hel' };
    case "no-object":
      return { inputText: '[1, "two"]' };
    case "repairable":
      return { inputText: "{n: 1, 'task': 'help',}" };
  }
}
