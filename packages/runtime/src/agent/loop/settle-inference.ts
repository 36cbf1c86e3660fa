import { UNKNOWN_USAGE, ZERO_USD, type DurableEvent, type Usage, type Usd } from "@keelson/protocol";
import { worstCase } from "../../providers/prices.ts";
import type { Model } from "../model-source.ts";
import type { Loop } from "./loop.ts";
import { DEFAULT_MAX_OUTPUT_TOKENS } from "./reserve-inference.ts";

export const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };

/** More than the tokens of what was sent and received: a token is at least a byte. */
export function estimatedUsage(inputBound: number, receivedBytes: number): Usage {
  return { ...UNKNOWN_USAGE, inputTokens: inputBound, outputTokens: receivedBytes };
}

/** Tells the ledger and the log what a model call used. */
export async function settle(loop: Loop, key: string, model: Model, usage: Usage, cost: Usd | null, estimated: boolean): Promise<void> {
  const { execution, ledger, scopes } = loop;
  if (scopes.length > 0) await ledger.settle(`${execution.runId}/${key}`, cost ?? ZERO_USD);
  const event: DurableEvent = { type: "usage", usage, cost, model: model.reference, ...(estimated && { estimated: true as const }) };
  execution.put(`${key}/usage`, event, scopes.length > 0 ? "power" : undefined);
}

/** A reservation whose end nobody saw (a crash came first) is spent as a whole. */
export function settleUnseen(loop: Loop, key: string): void {
  const data = loop.execution.lookup(key)?.data as {
    readonly model: string;
    readonly inputBound: number;
    readonly maxTokens?: number;
    readonly reserved?: Usd;
  };
  const usage: Usage = { ...UNKNOWN_USAGE, inputTokens: data.inputBound, outputTokens: data.maxTokens ?? null };
  const model = loop.models.resolve(data.model);
  const cost =
    data.reserved ?? (model.price === null ? null : worstCase(data.inputBound, data.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS, model.price));
  loop.execution.put(`${key}/usage`, { type: "usage", usage, cost, model: data.model, estimated: true }, "power");
}
