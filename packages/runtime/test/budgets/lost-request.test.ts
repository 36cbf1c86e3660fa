import { once } from "node:events";
import { Agent } from "node:http";
import { addUsd, compareUsd, type DurableEvent, ModelError, type Provider, usd, type Usd, ZERO_USD } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAgent, createRunner, defineTool, type Run } from "../../src/index.ts";
import { createModelRegistry } from "../../src/providers/index.ts";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { createMemoryBudgetLedger } from "../../src/state/index.ts";
import { type ServerTurn, startModelServer } from "../../src/testing/model-server.ts";
import { VENDOR_MODEL, VENDOR_PRICE } from "./billing-vendor.ts";

const usage = { inputTokens: 10, outputTokens: 10, cacheReadTokens: 0, cacheCreationTokens: 0 };
const LOOKS: ServerTurn = { text: "I look.", toolCalls: [{ name: "look", input: {} }], usage };
const LOST: ServerTurn = { ...LOOKS, misbehave: { resetBeforeHeaders: true } };
const DONE: ServerTurn = { text: "Done.", usage };
const MOST_TOKENS = 1000;
/** Of a call: its output at most, and what is sent, which is short. */
const RESERVED_OUTPUT = usd("0.01");

interface Lost {
  readonly run: Run<undefined>;
  readonly events: readonly DurableEvent[];
  readonly requests: number;
  readonly spent: Usd;
}

/** A run without retries of its own, whose vendor answers so. */
async function runOver(turns: readonly ServerTurn[], maxCost: string): Promise<Lost> {
  await using server = await startModelServer(turns, { validate: false });
  const agent = new Agent({ keepAlive: true });
  const provider = createOpenAiChatProvider({ baseUrl: server.openAiUrl, apiKey: "k", agent });
  const models = createModelRegistry({ providers: { vendor: provider }, prices: { [VENDOR_MODEL]: VENDOR_PRICE } });
  const ledger = createMemoryBudgetLedger();
  const look = defineTool({
    name: "look",
    description: "Looks, as long as the connection of the response is not kept yet.",
    effect: "read",
    input: { type: "object" },
    async execute() {
      if (Object.values(agent.freeSockets).flat().length === 0) await once(agent, "free");
      return "nothing";
    },
  });
  const payer = createAgent({
    name: "payer",
    model: `vendor/${VENDOR_MODEL}`,
    limits: { maxTurns: 5, maxRetries: 0 },
    settings: { maxTokens: MOST_TOKENS },
    tools: [look],
  });
  const run = createRunner({ models, ledger, budgets: [{ id: "purse", maxCost }], agent: payer }).run("Look around.");
  const events: DurableEvent[] = [];
  for await (const event of run) if ("seq" in event) events.push(event as unknown as DurableEvent);
  agent.destroy();
  return { run, events, requests: server.requests.length, spent: await ledger.spent("purse") };
}

function costs(events: readonly DurableEvent[]): readonly (readonly [string, boolean])[] {
  return events.flatMap((event) => (event.type === "usage" ? [[String(event.cost), event.estimated === true] as const] : []));
}

describe("a request that was lost with a kept connection", () => {
  it("is an attempt of its own: paid at its reservation, told, and sent again at once beside the retries [ET-07, LA-07]", async () => {
    const { run, events, requests, spent } = await runOver([LOOKS, LOST, DONE], "1");
    expect((await run.outcome).reason).toBe("complete");
    expect(requests).toBe(3);
    expect(events.filter(({ type }) => type === "retry")).toMatchObject([
      { attempt: 0, reason: "lost-connection", delayMs: 0, failure: { kind: "server-error", progress: "sent" } },
    ]);
    const paid = costs(events);
    expect(paid.map(([, estimated]) => estimated)).toEqual([false, true, false]);
    expect(compareUsd(usd(paid[1]?.[0] ?? "0"), RESERVED_OUTPUT)).toBeGreaterThan(0);
    expect(spent).toBe(paid.reduce((sum, [cost]) => addUsd(sum, usd(cost)), ZERO_USD));
  });

  it("is not sent again where the limit has no room for a second reservation [LA-07, AG-17]", async () => {
    const { run, events, requests, spent } = await runOver([LOOKS, LOST, DONE], "0.03");
    expect((await run.outcome).reason).toBe("budget-exhausted");
    expect(requests).toBe(2);
    expect(costs(events).map(([, estimated]) => estimated)).toEqual([false, true]);
    expect(compareUsd(spent, usd("0.03"))).toBeLessThanOrEqual(0);
  });

  it("is sent again once: where that is lost as well, the retries decide [ET-07]", async () => {
    const { run, requests } = await runOver([LOOKS, LOST, LOST, DONE], "1");
    expect(await run.outcome).toMatchObject({ reason: "error" });
    expect(requests).toBe(3);
    // Whatever each was lost with.
    let asked = 0;
    const provider: Provider = {
      name: "losing",
      wire: "test",
      // oxlint-disable-next-line require-yield
      async *stream(_request, options) {
        asked++;
        const lost = new ModelError({ kind: "server-error", message: "it was lost", progress: "sent" });
        expect(options?.resendLost?.(lost.failure)).toBe(false);
        throw lost;
      },
    };
    const agent = createAgent({ name: "caller", model: "losing/m", limits: { maxRetries: 0 } });
    const models = createModelRegistry({ providers: { losing: provider } });
    expect(await createRunner({ agent, models }).run("Hi.").outcome).toMatchObject({ reason: "error" });
    expect(asked).toBe(2);
  });
});
