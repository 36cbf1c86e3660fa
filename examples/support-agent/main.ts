// A support agent that can't pay before it has verified, nor too much; it waits for the bank, and a person can take the case from it.
import assert from "node:assert/strict";
import { createAgent, createRunner, defineTool } from "keelson";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const paid: number[] = [];
const verifyIdentity = defineTool({
  name: "verify_identity",
  description: "Checks the customer's number.",
  effect: "read",
  input: z.object({ customer: z.string() }),
  execute: ({ customer }) => `${customer} is known`,
});
const refund = defineTool({
  name: "refund",
  description: "Sends money back to a verified customer.",
  input: z.object({ amount: z.number().positive() }),
  execute({ amount }) {
    paid.push(amount);
    return "sent to the bank";
  },
});
const searchOrders = defineTool({
  name: "search_orders",
  description: "Finds orders by what the customer says.",
  effect: "read",
  input: z.object({ text: z.string() }),
  execute: () => "Order 17: a lamp, 40 dollars",
});

// #region strategy
import { closureGuard, fsmStrategy, waitForSignalTool } from "keelson/agent";

const awaitBank = waitForSignalTool({ name: "await_bank", kinds: ["bank"], timeoutMs: 3 * 24 * 60 * 60_000 });

const atMost50 = closureGuard("at most 50 dollars", (input) => (input as { amount: number }).amount <= 50);

const strategy = fsmStrategy()
  .initial("triage")
  .tools("search_orders") // everywhere, and moves nothing
  .state("refunding", { tools: ["await_bank"] })
  .transition("triage", "verify_identity", "verified")
  .transitionWithGuard("verified", "refund", "refunding", atMost50, 10)
  .transition("refunding", "close_case", "closed")
  .offer("close_case", "The customer has been told that the money is on its way.")
  .state("handed-over")
  .transition("handed-over", "close_case", "closed")
  .route({ kind: "takeover", action: { type: "transition", state: "handed-over" }, priority: 0 })
  .build();
// #endregion

const model = scriptedModel([
  { toolCalls: [{ name: "refund", input: { amount: 40 } }] },
  {
    toolCalls: [
      { name: "search_orders", input: { text: "a lamp" } },
      { name: "verify_identity", input: { customer: "c-7" } },
    ],
  },
  { toolCalls: [{ name: "refund", input: { amount: 400 } }] },
  { toolCalls: [{ name: "refund", input: { amount: 40 } }] },
  { toolCalls: [{ name: "await_bank" }] },
  { toolCalls: [{ name: "transition", input: { action: "close_case" } }] },
  "Your 40 dollars are on their way.",
]);

// #region agent
const agent = createAgent({
  name: "support",
  model,
  instructions: "Help the customer. Verify who it is before you pay anything.",
  tools: [verifyIdentity, refund, searchOrders, awaitBank],
  strategy,
  signalRoutes: [
    { kind: "bank", predicate: ({ payload }) => payload === "frozen", action: { type: "graceful-stop" }, priority: 10 },
    { kind: "chat-typing", action: { type: "continue" }, priority: 0 }, // nothing that the model should hear of
  ],
});
// #endregion

const log = createMemoryEventLog();
// #region wait
const waiting = await createRunner({ agent, log }).run("My lamp is broken.", { session: "case-17" }).outcome;
// "awaiting-signal": the process may end now

const runner = createRunner({ agent, log }); // later, elsewhere
await runner.signal("case-17", { kind: "bank", payload: "accepted" }, { key: "transfer-4711" });
const outcome = await (await runner.resume("case-17")).outcome;
// #endregion

assert.equal(waiting.reason, "awaiting-signal");
assert.deepEqual(
  waiting.waits?.map((wait) => wait.type),
  ["signal", "timer"],
);
assert.equal(outcome.reason, "complete");
assert.equal(outcome.text, "Your 40 dollars are on their way.");
assert.deepEqual(paid, [40]);

// What the model was told it may call, state by state.
assert.deepEqual(
  model.requests.map(({ tools = [] }) => tools.map(({ name }) => name).join(" ")),
  [
    "search_orders verify_identity", // triage
    "search_orders verify_identity",
    "refund search_orders", // verified
    "refund search_orders",
    "await_bank search_orders transition", // refunding
    "await_bank search_orders transition",
    "search_orders", // closed
  ],
);
const results: string[] = [];
const outputs: string[] = [];
for await (const event of runner.sessions.events("case-17"))
  if (event.type === "tool-result") {
    results.push(`${event.name} ${event.isError ? "refused" : "done"}`);
    outputs.push(String(event.output));
  }
assert.deepEqual(results, [
  "refund refused",
  "search_orders done",
  "verify_identity done",
  "refund refused",
  "refund done",
  "await_bank done",
  "transition done",
]);
assert.equal(
  outputs[0],
  `"refund" is not possible in the state "triage". Possible there: "verify_identity". Tools that are there now: search_orders, verify_identity.`,
);
assert.match(outputs[3] ?? "", /by the guard "at most 50 dollars"/);

// Another case, which a person takes over while the agent works on it.
let handOver = (): void => {};
const handedOver = new Promise<void>((resolve) => (handOver = resolve));
const other = scriptedModel([
  { toolCalls: [{ name: "verify_identity", input: { customer: "c-8" } }] },
  { toolCalls: [{ name: "refund", input: { amount: 50 } }], wait: handedOver },
  "A colleague has your case now.",
]);
const run = createRunner({ agent: agent.with({ model: other }) }).run("I want 50 dollars.");
for await (const event of run) {
  if (event.type !== "tool-result" || event.name !== "verify_identity") continue;
  // #region takeover
  await run.signal({ kind: "takeover", payload: { by: "grace" } });
  // #endregion
  handOver();
}
assert.equal((await run.outcome).text, "A colleague has your case now.");
assert.deepEqual(
  other.requests.at(-1)?.tools?.map(({ name }) => name),
  ["search_orders", "transition"], // handed-over
);
assert.deepEqual(paid, [40]);
console.log(
  `support-agent: ${results.length} calls, ${results.filter((result) => result.endsWith("refused")).length} refused, paid ${paid.join()}`,
);
