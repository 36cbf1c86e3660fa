import { runOf, type Loop } from "../turn/loop.ts";
import { momentsOf, passMoment, type Place } from "../turn/moments.ts";

/** Begins a turn, or goes on with the one that is open. */
export async function openTurn(loop: Loop): Promise<Place> {
  const moments = momentsOf(loop);
  const run = runOf(loop);
  const number = run.turnOpen ? run.turn : run.turn + 1;
  const place: Place = { turn: `t${number}`, number };
  const isFirst = number === 1 && !run.turnOpen;
  await passMoment(loop, isFirst ? moments.beforeRun : moments.onGoingOn, place);
  if (!run.turnOpen) await passMoment(loop, moments.betweenTurns, place);
  await passMoment(loop, moments.beforeTurn, place);
  return place;
}
