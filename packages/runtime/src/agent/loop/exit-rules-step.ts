import type { Step } from "../turn/moments.ts";

/** Rules may halt here, or inject what the run goes on with. */
export const exitRulesStep: Step = {
  name: "exit rules",
  applies: ({ context }) => context.watches("exit-check"),
  async run({ context }, { turn }) {
    await context.run({ type: "exit-check", key: `${turn}/exit`, execute: () => {} });
  },
};
