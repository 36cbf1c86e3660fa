import { runOf } from "../turn/loop.ts";
import type { Step } from "../turn/moments.ts";

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
