import type { Scenario } from "../scenario.ts";

const note = { toolCalls: [{ name: "note", input: { text: "milk" } }] };
const look = (at: string) => ({ toolCalls: [{ name: "look", input: { at } }] });

/** Conversations and what becomes of them. */
export const CONVERSATIONS: readonly Scenario[] = [
  {
    name: "finished",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          instructions: () => "Be brief.",
          model: life.model([
            {
              thinking: "First I look.",
              text: "Looking.",
              toolCalls: [look("fridge").toolCalls[0]!, { name: "look", input: { at: "shelf" } }],
            },
            note,
            { text: "Milk is noted.", usage: { cacheReadTokens: 3, reasoningTokens: 2 } },
            "You are welcome.",
          ]),
          tools: [life.tool("look", "read"), life.tool("note", "write")],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("What is missing?", { session: "finished", metadata: { user: "ada" } }));
      await runner.sessions.rename("finished", "The shopping");
      await runner.sessions.tag("finished", "home");
    },
    async goOn(runner, life) {
      const before = await (await runner.resume("finished")).outcome;
      return [before, await life.live(runner.run("Thank you.", { session: "finished" }))];
    },
  },
  {
    name: "failed",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          model: life.model([look("fridge"), { error: { kind: "authentication", message: "the key is wrong" } }]),
          tools: [life.tool("look", "read")],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("What is missing?", { session: "failed" }));
    },
  },
  {
    name: "forked",
    others: ["forked-parent"],
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          model: life.model([look("fridge"), "There is no milk.", "Eggs, then.", "And bread."]),
          tools: [life.tool("look", "read")],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("What is missing?", { session: "forked-parent" }));
      await life.live(runner.run("What else?", { session: "forked-parent" }));
      await runner.sessions.fork("forked-parent", { id: "forked", name: "Another way", turn: 2 });
      await life.live(runner.run("What about eggs?", { session: "forked" }));
    },
    goOn: async (runner, life) => [
      await life.live(runner.run("More?", { session: "forked" })),
      await life.live(runner.run("More?", { session: "forked-parent" })),
    ],
  },
  {
    name: "rewound",
    open: (life) => life.runner(life.release.root.createAgent({ name: "clerk", model: life.model(["One.", "Two.", "Three."]) })),
    async write(runner, life) {
      for (const input of ["Count.", "On.", "On."]) await life.live(runner.run(input, { session: "rewound" }));
      await runner.sessions.rewind("rewound", 1);
    },
    goOn: async (runner, life) => [await life.live(runner.run("Again.", { session: "rewound" }))],
  },
  {
    name: "large-result",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          model: life.model([look("cellar"), { text: "A long list.", wait: () => life.end() }]),
          tools: [life.tool("look", "read", { execute: () => "potatoes and onions\n".repeat(3500) })],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("What is there?", { session: "large-result" }));
    },
  },
  {
    name: "compacted",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          model: life.release.testing.scriptedModel(
            Array.from({ length: 9 }, () => async ({ messages }) => {
              const last = JSON.stringify(messages.at(-1));
              if (last.includes("What is missing")) return look("fridge");
              if (messages.length > 1) return { error: { kind: "context-overflow", message: "too many tokens" } };
              await life.end();
              return "There was no milk.";
            }),
          ),
          tools: [life.tool("look", "read")],
          compact: async (conversation) => ({
            messages: [life.release.root.textMessage("user", `${conversation.length} messages about milk.`)],
            summary: "About milk.",
          }),
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("What is missing?", { session: "compacted" }));
    },
  },
  {
    name: "model-switched",
    open(life) {
      const responses = [look("fridge"), look("shelf"), { text: "No milk.", wait: () => life.end() }];
      const first = life.model(responses, { name: "one/small" });
      const second = life.model(responses, { name: "two/large" });
      const models = life.release.root.createModelRegistry({ providers: { one: first, two: second } });
      const agent = life.release.root.createAgent({
        name: "clerk",
        model: "one/small",
        tools: [life.tool("look", "read", { execute: async () => (await switching.run?.setModel("two/large"), "seen") })],
      });
      const runner = life.runner(agent, { models });
      const switching: { run?: { setModel(model: string): Promise<void> } } = {};
      return Object.assign(Object.create(runner) as typeof runner, {
        run: ((input, options) => (switching.run = runner.run(input, options))) as typeof runner.run,
      });
    },
    async write(runner, life) {
      await life.live(runner.run("What is missing?", { session: "model-switched" }));
    },
  },
];
