// Steps that belong to no feature: every run takes them.
import { runOf } from "../turn/loop.ts";
import type { Step } from "../turn/moments.ts";
import { checkEnding, RunEnding } from "../turn/run-ending.ts";

/** Reads what others wrote to the session, and acts on it. */
export const inboxStep: Step = {
  name: "inbox",
  applies: ({ execution }) => execution.hasUnread,
  run: (loop) => loop.readInbox(),
};

export const turnStartStep: Step = {
  name: "turn start",
  async run(loop, { turn, number }) {
    loop.execution.put(`${turn}/start`, "turn-start", { turn: number, model: runOf(loop).model });
  },
};

export const turnEndStep: Step = {
  name: "turn end",
  async run(loop, { turn, number }) {
    const { execution, limits } = loop;
    execution.put(`${turn}/end`, "turn-end", { turn: number });
    // A limit of time is held against the time that the log gives.
    if (limits.maxDurationMs !== undefined || execution.deadline !== undefined) await execution.flush();
  },
};

/** Rules may halt here, or inject what the run goes on with. */
export const exitRulesStep: Step = {
  name: "exit rules",
  applies: ({ context }) => context.watches("exit-check"),
  async run({ context }, { turn }) {
    await context.run({ type: "exit-check", key: `${turn}/exit`, execute: () => {} });
  },
};

/** Ends a run that was told to end: abort, deadline, or a graceful stop. */
export const checkEndingStep: Step = {
  name: "stop and abort",
  run: async (loop) => checkEnding(loop),
};

/** Ends a run that has handed its task on. */
export const handoffStep: Step = {
  name: "handoff",
  applies: (loop) => runOf(loop).handedOff === true,
  async run() {
    throw new RunEnding("handed-off");
  },
};

/** A step that is done only where the response that may be the last is whole. */
export function ifComplete({ name, applies, run }: Step): Step {
  return { name, applies: (loop, place) => place.isWhole !== false && applies?.(loop, place) !== false, run };
}
