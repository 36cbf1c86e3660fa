// Orders that a model places by declaring them: kept in a store behind the response, priced by the program before it.
import assert from "node:assert/strict";
import { z } from "zod";
import { mockStateStore, scriptedModel } from "keelson/testing";
import { createAgent, createRunner } from "keelson";

const store = mockStateStore();
const model = scriptedModel([
  { toolCalls: [{ name: "order", input: { item: "tea", pieces: 3 } }] },
  ({ messages }) => `Three teas are on their way. ${JSON.stringify(messages.at(-1)?.content).includes("10.50") ? "That is $10.50." : ""}`,
]);

// #region agent
import { createDirectivePayloads, defineEffectTool, definePlugin, withDirectives, type PluginDirectives } from "keelson/agent";
import { createLocalEffectExecutor } from "keelson/orchestration";

const order = defineEffectTool({
  name: "order",
  description: "Order an item.",
  input: z.object({ item: z.string(), pieces: z.number().int().min(1) }),
  effect: ({ item, pieces }) => ({ type: "write-memory", scope: { type: "global" }, key: `orders/${item}`, value: { pieces } }),
});

const payloads = createDirectivePayloads().register("quote", z.object({ item: z.string() }));

// What is to be done is decided by a pure function, and tested without a runtime.
function onMessage(asked: number, message: string) {
  return withDirectives(asked + 1, message.includes("tea") ? [payloads.directive("quote", { item: "tea" })] : []);
}
assert.deepEqual(onMessage(0, "Some tea, please."), {
  state: 1,
  directives: [{ type: "custom", customType: "quote", payload: { item: "tea" } }],
});

const quoting = definePlugin({
  key: "quoting",
  initialState: { asked: 0 },
  onUserMessage({ message = "" }, state): PluginDirectives {
    const { state: asked, directives } = onMessage(state.value.asked, message);
    state.value = { asked };
    return directives;
  },
});

const agent = createAgent({
  name: "desk",
  model,
  tools: [order],
  plugins: [quoting],
  directiveFilters: [{ name: "no schedules", filter: (directive) => (directive.type === "cron" ? undefined : directive) }],
});

const runner = createRunner({
  agent,
  effects: createLocalEffectExecutor({ store, payloads, customDirectives: { quote: ({ item }) => `Three ${item}s cost $10.50.` } }),
});
const { text, effects } = await runner.run("Three teas, please.").outcome;
// #endregion

assert.equal(text, "Three teas are on their way. That is $10.50.");
assert.deepEqual(
  effects.map(({ type, meta }) => [type, meta?.outcome]),
  [
    ["directive", "done"],
    ["write-memory", "done"],
  ],
);
assert.deepEqual((await store.read({ type: "global" }, "orders/tea"))?.value, { pieces: 3 });
console.log(text);
