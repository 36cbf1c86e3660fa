// A tool that asks a person and a model while it runs. Nobody answers in the process that asked; another one gets the answer, and the call
// is made again with it. What the model was asked is not paid twice.
import assert from "node:assert/strict";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { createEphemeralApprovalKeys } from "keelson/agent";
import { textMessage } from "@keelson/protocol";
import { scriptedModel } from "keelson/testing";
// #region tool
import { createAgent, createRunner, defineTool } from "keelson";

const bookTable = defineTool({
  name: "book_table",
  description: "Finds a table for tonight.",
  effect: "read",
  input: { type: "object", properties: { guests: { type: "integer" } }, required: ["guests"] },
  async execute({ guests }, { ask, infer }) {
    const wish = await infer?.({ messages: [textMessage("user", "What do guests like tonight? One word.")], maxTokens: 20 });
    const answer = await ask?.({
      message: `When do the ${guests} of you want to come?`,
      schema: { type: "object", properties: { hour: { type: "integer", minimum: 18, maximum: 23 } }, required: ["hour"] },
    });
    if (answer?.type !== "provided") return "Nobody said when.";
    return { hour: (answer.value as { hour: number }).hour, seats: wish?.type === "response" ? wish.content : wish?.reason };
  },
});
// #endregion

const model = scriptedModel([
  { toolCalls: [{ name: "book_table", input: { guests: 4 } }] },
  "Outside.",
  ({ messages }) => `Booked: ${JSON.stringify(messages.at(-1)?.content)}`,
]);
const stores = { log: createMemoryEventLog(), blobs: createMemoryBlobStore(), approvalKeys: createEphemeralApprovalKeys() };

// #region agent
const agent = createAgent({
  name: "waiter",
  model,
  tools: [bookTable],
  permissions: { rules: [{ pattern: "infer(book_table)", behavior: "allow" }] },
});
// #endregion

// #region suspended
const runner = createRunner({ agent, ...stores });
const { reason } = await runner.run("A table for four.", { session: "tonight" }).outcome;
console.log(reason); // awaiting-decision
// #endregion
assert.equal(reason, "awaiting-decision");

// #region answer
const elsewhere = createRunner({ agent, ...stores });
for (const { token, asked } of await elsewhere.approvals.list()) {
  console.log(asked?.message); // When do the 4 of you want to come?
  await elsewhere.approve(token, { type: "supply", output: { hour: 20 } });
}
const { text } = await (await elsewhere.resume("tonight")).outcome;
// #endregion
assert.match(text, /"hour":20/);
assert.match(text, /Outside/);
assert.equal(model.requests.length, 3, "the model is not asked twice for the call that was made again");

const again = createRunner({
  agent: createAgent({
    ...agent.options,
    model: scriptedModel([{ toolCalls: [{ name: "book_table", input: { guests: 4 } }] }, "Outside."]),
  }),
  ...stores,
});
const { waits } = await again.run("And tomorrow.", { session: "tomorrow" }).outcome;
const [question] = waits ?? [];
assert(question?.type === "decision");
await assert.rejects(again.approve(question.token, { type: "supply", output: { hour: 3 } }), /not what book_table asked for/);
console.log("tools-that-ask: asked a person and a model, made again elsewhere with the answer, paid once");
