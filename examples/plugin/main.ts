// A plugin that keeps account of a session in a state of its own, and middleware that takes card numbers out of what is asked.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

const model = scriptedModel([
  { toolCalls: [{ name: "search", input: { query: "refund rules" } }] },
  "Within 30 days.",
  { toolCalls: [{ name: "search", input: { query: "opening hours" } }] },
  "Nine to five.",
]);

// #region plugin
import { createAgent, createRunner, defineTool } from "keelson";
import { definePlugin, definePromptMiddleware } from "keelson/agent";
import { z } from "zod";

const account = definePlugin({
  key: "account", // names the state in the log
  initialState: { questions: 0, tools: {} as { [tool: string]: number } },
  onUserMessage(_input, state) {
    state.value.questions++; // what changes is recorded when the callback is done
  },
  events: ["tool-result"], // what it is shown of the run; default all
  onEvent({ event }, state) {
    state.value.tools[event.name] = (state.value.tools[event.name] ?? 0) + 1;
  },
  afterRun({ reason }, state) {
    // What is to happen in the world is asked of the runtime, as data.
    return [{ type: "emit", event: { name: "account", reason, questions: state.value.questions } }];
  },
});
// #endregion

// #region middleware
const redactCards = definePromptMiddleware({
  name: "redact-cards",
  process({ messages, context }) {
    const redacted = JSON.parse(JSON.stringify(messages).replace(/\b\d{4}([ -]?\d{4}){3}\b/g, "[card]"));
    return { type: "continue", input: { messages: redacted, context } };
  },
  systemPromptAdditions: () => ["Never ask for card numbers."],
});
// #endregion

const search = defineTool({
  name: "search",
  description: "Searches the handbook.",
  effect: "read",
  input: z.object({ query: z.string() }),
  execute: ({ query }) => `The page about ${query}.`,
});

// #region run
const agent = createAgent({
  name: "desk",
  model,
  instructions: "Answer from the handbook.",
  tools: [search],
  plugins: [account],
  middleware: [redactCards],
});
const runner = createRunner({ agent });

const first = await runner.run("I paid with 4111 1111 1111 1111. Can I have it back?", { session: "ann" }).outcome;
const second = await runner.run("When are you there?", { session: "ann" }).outcome;
const { state } = await runner.sessions.get("ann"); // { plugins: { account: … } }

await runner.sessions.rewind("ann", 2); // to the end of the first run, which took two turns
const rewound = (await runner.sessions.get("ann")).state;
// #endregion

assert.deepEqual([first.text, second.text], ["Within 30 days.", "Nine to five."]);
assert.deepEqual(state, { plugins: { account: { questions: 2, tools: { search: 2 } } } });
assert.deepEqual(rewound, { plugins: { account: { questions: 1, tools: { search: 1 } } } });
assert.match(JSON.stringify(model.requests[0]), /I paid with \[card\]/);
assert.doesNotMatch(JSON.stringify(model.requests), /4111/);
assert.equal(model.requests[0]?.system, "Answer from the handbook.\n\nNever ask for card numbers.");

const reports: unknown[] = [];
for await (const event of runner.sessions.events("ann")) if (event.type === "directive") reports.push(event.directive);
assert.deepEqual(reports, [
  { type: "emit", event: { name: "account", reason: "complete", questions: 1 } },
  { type: "emit", event: { name: "account", reason: "complete", questions: 2 } },
]);
console.log("plugin: two questions, two searches, no card number");
