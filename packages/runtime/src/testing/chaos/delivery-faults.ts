import { LogError } from "@keelson/protocol";
import type { ChaosFault } from "./fault.ts";

/** The store can't be reached, and nothing of it is done. */
export const refused: ChaosFault = {
  name: "refused",
  seams: ["acquire", "append", "put", "get", "reserve", "settle", "deliver"],
  act: () => Promise.reject(new LogError({ kind: "unavailable", message: "chaos: it can't be reached" })),
};

/** It is done, and the answer is lost on its way back. */
export const lostAcknowledgement: ChaosFault = {
  name: "lost acknowledgement of",
  seams: ["acquire", "append", "put", "reserve", "settle", "start", "wake", "deliver"],
  async act(act) {
    await act();
    throw new LogError({ kind: "unavailable", message: "chaos: the answer was lost" });
  },
};

/** It arrives twice, one after the other, as from a client or a queue that sends again. */
export const repeated: ChaosFault = {
  name: "repeated",
  seams: ["append", "put", "reserve", "settle", "start", "wake", "deliver"],
  async act(act, hand, { seam, id, about }) {
    const first = await act();
    try {
      return await act();
    } catch (error) {
      // A delivery that comes again is refused by whoever works on the session; stores know what they have taken.
      if (seam !== "deliver") hand.report(`${id} (${about}) was taken, and refused when it came again: ${String(error)}`);
      return first;
    }
  },
};

/** People answer twice, as with two clicks: the second answer is refused, or changes nothing. */
export const answeredTwice: ChaosFault = {
  name: "twice",
  seams: ["answer"],
  async act(act) {
    const first = await act();
    await act().catch(() => {});
    return first;
  },
};

/** Two workers get the same delivery at once. */
export const deliveredToTwo: ChaosFault = {
  name: "two workers at",
  seams: ["deliver"],
  async act(act) {
    const [first, second] = await Promise.allSettled([act(), act()]);
    if (first.status === "fulfilled") return first.value;
    if (second.status === "fulfilled") return second.value;
    throw first.reason;
  },
};

/** It comes after everything else that there is to do. */
export const late: ChaosFault = {
  name: "late",
  seams: ["wake"],
  async act<T>(act: () => Promise<T>, hand: { later(act: () => Promise<unknown>): void }): Promise<T> {
    hand.later(act);
    // What is waked for is told to nobody.
    return undefined as T;
  },
};

/** It takes its time, less than a lease lasts. */
export const slow: ChaosFault = {
  name: "slow",
  seams: ["acquire", "append", "read", "put", "get", "reserve", "settle", "tool", "effect", "start", "wake", "deliver"],
  async act(act, hand) {
    await hand.sleep(20_000);
    return act();
  },
};
