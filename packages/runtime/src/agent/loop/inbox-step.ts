import type { Step } from "../turn/moments.ts";

/** Reads what others wrote to the session, and acts on it. @param point where in the turn; nothing as it begins */
export function inboxStep(point?: string): Step {
  return {
    name: "inbox",
    applies: ({ execution }) => execution.hasUnread,
    run: (loop, { turn }) => loop.readInbox(point === undefined ? turn : `${turn}/${point}`),
  };
}
