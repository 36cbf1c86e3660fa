import type { Clock } from "../../src/platform/clock.ts";
import { createAgent, createRunner, defineTool, type Agent, type RunnerOptions, type SingleRunner } from "../../src/index.ts";
import { createModelRegistry } from "../../src/providers/index.ts";
import { MOST_TOKENS, VENDOR_MODEL, VENDOR_PRICE, WIRES } from "./billing-vendor.ts";

/** What all who pay the vendor share. */
export const PURSE = { id: "purse", maxCost: "0.50" } as const;

/** Waits are over soon, so that nobody waits for the vendor's sake. */
export const hastyClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, 5));
    return () => clearTimeout(timer);
  },
};

/** A runner whose agent asks the vendor again and again, as long as there is money. */
export function payerOf(
  urls: { readonly url: string; readonly openAiUrl: string },
  { wire, name, ...options }: RunnerOptions & { readonly wire: string; readonly name: string },
): SingleRunner<undefined> {
  const provider = (WIRES[wire] as (typeof WIRES)[string])(urls, name);
  const models = createModelRegistry({ providers: { vendor: provider }, prices: { [VENDOR_MODEL]: VENDOR_PRICE } });
  return createRunner({ clock: hastyClock, models, budgets: [PURSE], ...options, agent: payer() });
}

function payer(): Agent<undefined> {
  return createAgent({
    name: "payer",
    model: `vendor/${VENDOR_MODEL}`,
    loopGuard: false,
    limits: { maxTurns: 500, maxModelCalls: 2000 },
    settings: { maxTokens: MOST_TOKENS },
    tools: [defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "nothing new" })],
  });
}
