// A tool that finds the customer of its run in its context, and a child that works on a copy of what its parent has.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

// #region shop
import { createAgent, createRunner, defineTool } from "keelson";

interface Shop {
  readonly customer: string;
  orders(): Promise<readonly string[]>;
}

const listOrders = defineTool.for<Shop>()({
  name: "list_orders",
  description: "List the orders of the customer.",
  effect: "read",
  input: { type: "object" },
  async execute(_input, { context }) {
    return { customer: context.customer, orders: await context.orders() };
  },
});

const clerk = createAgent({
  name: "clerk",
  model: scriptedModel([{ toolCalls: [{ name: "list_orders" }] }, "You ordered tea and toast."]),
  tools: [listOrders],
});

const runner = createRunner({
  agent: clerk,
  context: ({ metadata }): Shop => ({
    customer: String(metadata["customer"]),
    orders: async () => ["tea", "toast"],
  }),
});
const run = runner.run("What did I order?", { metadata: { customer: "ada" } });
// #endregion

const results: unknown[] = [];
for await (const event of run) if (event.type === "tool-result") results.push(event.output);
assert.deepEqual(results, [{ customer: "ada", orders: ["tea", "toast"] }]);
assert.equal((await run.outcome).text, "You ordered tea and toast.");

// #region child
const auditor = createAgent({
  name: "auditor",
  model: scriptedModel([{ toolCalls: [{ name: "list_orders" }] }, "Nothing is wrong."]),
  tools: [listOrders],
  context: ({ inherited }: { readonly inherited: Shop }): Shop => ({ ...inherited, customer: `${inherited.customer} (audit)` }),
});
// #endregion

const manager = createAgent({
  name: "manager",
  model: scriptedModel([{ toolCalls: [{ name: "auditor", input: { task: "Look at the orders." } }] }, "All is well."]),
  agents: { auditor },
});
const seen: string[] = [];
const audited = createRunner({
  agent: manager,
  context: ({ metadata }): Shop => ({ customer: String(metadata["customer"]), orders: async () => [] }),
}).run("Check.", { metadata: { customer: "ada" } });
for await (const event of audited) if (event.type === "tool-result" && event.path !== undefined) seen.push(JSON.stringify(event.output));
assert.deepEqual(seen, ['{"customer":"ada (audit)","orders":[]}']);
