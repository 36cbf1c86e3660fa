import { ZERO_USD, type OperatorOutput } from "@keelson/protocol";

/** What an operator gives that used no model. */
export function operatorOutput(text: string): OperatorOutput {
  const metadata = { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 1, subDispatches: [], durationMs: 0, untracked: [] };
  return { message: [{ type: "text", text }], exitReason: { type: "complete" }, metadata, effects: [] };
}
