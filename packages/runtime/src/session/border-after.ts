import { sessionError } from "./session-error.ts";
import type { SessionState, TurnBorder } from "./session-state.ts";

/** The end of that turn; nothing for 0, which is before the first. */
export function borderAfter({ id, turnBorders }: SessionState, turn: number, what: string): TurnBorder | undefined {
  const border = turnBorders[turn - 1];
  if (border !== undefined || turn === 0) return border;
  throw sessionError(id, `Session "${id}" has ${turnBorders.length} complete turns; it can't be ${what} ${turn}.`);
}
