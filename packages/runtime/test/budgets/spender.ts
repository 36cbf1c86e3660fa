import type { InferRequest, Usd } from "@keelson/protocol";
import { createAgent, defineTool } from "../../src/index.ts";
import type { Agent } from "../../src/agent/definition/agent.ts";
import { costOf } from "../../src/providers/prices.ts";
import type { ModelPrice } from "../../src/providers/model-price.ts";
import { scriptedModel, type ScriptedResponse } from "../../src/testing/scripted-model.ts";

export const DOLLAR = { id: "dollar", maxCost: "1" } as const;

/** What a call of the spender costs at least is about a thousandth of `dearness` dollars, and four times that at most. */
export function spenderPrice(dearness: number): ModelPrice {
  return { input: String(0.01 * dearness), output: String(dearness), asOf: "2026-01-01" };
}

/** Two of three calls come to no more than half of what they may cost; none comes to more. */
export function usageOf(request: InferRequest, random: () => number): { readonly inputTokens: number; readonly outputTokens: number } {
  const most = request.maxTokens ?? 0;
  const share = random() < 0.66 ? 0.1 + 0.4 * random() : 0.5 + 0.5 * random();
  return { inputTokens: 20 + request.messages.length, outputTokens: Math.floor(most * share) };
}

/**
 * An agent that would go on for ever: it looks, and is paid for looking, until its money is gone.
 * @param options.bill is told what the vendor charges, whether or not anybody hears the response
 */
export function spender({
  dearness,
  random,
  bill,
  before = () => {},
  after = () => {},
}: {
  readonly dearness: number;
  readonly random: () => number;
  bill(cost: Usd): void;
  before?(): Promise<void> | void;
  after?(): Promise<void> | void;
}): Agent<undefined> {
  const price = spenderPrice(dearness);
  const respond = async (request: InferRequest): Promise<ScriptedResponse> => {
    await before();
    const usage = usageOf(request, random);
    const full = { ...usage, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
    bill(costOf(full, price) as Usd);
    await after();
    return { toolCalls: [{ name: "look", input: {} }], usage };
  };
  return createAgent({
    name: "spender",
    model: scriptedModel(
      Array.from({ length: 2000 }, () => respond),
      { name: "scripted/spender", price },
    ),
    loopGuard: false,
    limits: { maxTurns: 2000 },
    settings: { maxTokens: 4096 },
    tools: [defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "nothing new" })],
  });
}
