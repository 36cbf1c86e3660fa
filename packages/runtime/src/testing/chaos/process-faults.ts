import type { ChaosFault } from "./fault.ts";
import type { ChaosSeam } from "./step.ts";

/** What a process does. The rest happens outside of it. */
const WORK: readonly ChaosSeam[] = [
  ...(["acquire", "append", "read", "put", "get", "reserve", "settle"] as const),
  ...(["model", "tool", "reconcile", "effect", "start", "wake", "deliver"] as const),
];
const DAY_MS = 86_400_000;

export const crashBefore: ChaosFault = {
  name: "crash before",
  seams: WORK,
  act: (_act, hand) => hand.die(),
  async *stream(_respond, hand) {
    await hand.die();
  },
};

/** The act took effect, and the process never heard of it. */
export const crashAfter: ChaosFault = {
  name: "crash after",
  // After a read, or with the lease alone, nothing is other than before.
  seams: WORK.filter((seam) => seam !== "read" && seam !== "get"),
  async act(act, hand) {
    await act();
    return hand.die();
  },
  async *stream(respond, hand) {
    yield* (await respond()).slice(0, -1);
    await hand.die();
  },
};

/** The process dies while a response comes in. */
export const crashAmid: ChaosFault = {
  name: "crash amid",
  seams: ["model"],
  async *stream(respond, hand) {
    const events = await respond();
    yield* events.slice(0, events.length >> 1);
    await hand.die();
  },
};

/**
 * The process stands still (a machine that sleeps, a virtual one that is moved) for longer than its lease. Another goes on in its place
 * to the end; then it wakes up, and believes that nothing happened.
 */
export const frozenBefore: ChaosFault = {
  name: "frozen before",
  seams: ["append", "model", "settle"],
  // The inbox and other logs take writes from anybody.
  befalls: ({ seam, about }) => seam !== "append" || !about.endsWith("/inbox"),
  async act(act, hand) {
    await hand.freeze();
    return act();
  },
  async *stream(respond, hand) {
    await hand.freeze();
    yield* await respond();
  },
};

/** Likewise, with a tool at work or a response complete by then. */
export const frozenAfter: ChaosFault = {
  name: "frozen after",
  seams: ["model", "tool"],
  async act(act, hand) {
    const result = await act();
    await hand.freeze();
    return result;
  },
  async *stream(respond, hand) {
    const events = await respond();
    await hand.freeze();
    yield* events;
  },
};

export const clockForward: ChaosFault = jumpOf("clock a day forward before", DAY_MS);
export const clockBackward: ChaosFault = jumpOf("clock a day backward before", -DAY_MS);

function jumpOf(name: string, ms: number): ChaosFault {
  return {
    name,
    seams: ["acquire", "append", "model", "tool", "deliver"],
    act(act, hand) {
      hand.jump(ms);
      return act();
    },
    async *stream(respond, hand) {
      hand.jump(ms);
      yield* await respond();
    },
  };
}
