import type { Loop } from "./loop.ts";
import { workTurn, type Next } from "./work-turn.ts";

/** The loop: turns are worked until the run is over or waits, or so many are done. */
export async function runTurns(loop: Loop, most: number = Number.POSITIVE_INFINITY): Promise<Next> {
  let next: Next = { type: "now" };
  for (let left = most; left > 0 && next.type === "now"; left--) next = await workTurn(loop);
  return next;
}
