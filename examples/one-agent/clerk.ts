// #region agent
import { createAgent, defineTool } from "keelson";
import { scriptedModel } from "keelson/testing";

const lookUp = defineTool({
  name: "look_up",
  description: "Looks up an order.",
  effect: "read",
  input: { type: "object" },
  execute: () => "it is on its way",
});

export const clerk = createAgent({ name: "clerk", model: model(), tools: [lookUp] }); // model: "anthropic/claude-haiku-4-5"
// #endregion

/** Answers by what it is shown, so that any process goes on alike. */
function model() {
  const respond = ({ messages }: { readonly messages: readonly unknown[] }) =>
    messages.length === 1 ? { toolCalls: [{ name: "look_up", input: {} }] } : "It is on its way.";
  return scriptedModel(Array.from({ length: 100 }, () => respond));
}
