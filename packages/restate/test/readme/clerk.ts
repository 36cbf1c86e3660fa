import { createAgent, defineTool, type Agent } from "keelson";
import { scriptedModel } from "keelson/testing";

/** The same agent as in one process: nothing in it knows of Restate. */
export const clerk: Agent = createAgent({
  name: "clerk",
  model: scriptedModel(
    Array.from(
      { length: 9 },
      () =>
        ({ messages }) =>
          messages.length === 1 ? { toolCalls: [{ name: "look_up", input: {} }] } : "It is on its way.",
    ),
  ),
  tools: [
    defineTool({
      name: "look_up",
      description: "Looks up an order.",
      effect: "read",
      input: { type: "object" },
      execute: () => "on its way",
    }),
  ],
});
