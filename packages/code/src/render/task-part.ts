import type { SessionTask } from "../core/session-tasks.ts";
import type { LivePart } from "../terminal/live-part.ts";
import type { Style } from "../text/style.ts";
import { taskLines } from "./task-lines.ts";

export interface TaskPartOptions {
  readonly style: Style;
  /** The list of the session that is open. */
  tasks(): readonly SessionTask[];
}

/** The list of tasks while the agent works at it. */
export interface TaskPart {
  /** Shows the list until all of its tasks are done, or as the person chose. */
  readonly part: LivePart;
  /** Hides the list, or shows it. @returns false if it is empty */
  toggle(): boolean;
  /** Forgets the choice of the person, because another session is open. */
  forget(): void;
}

// A longer list would push the conversation away.
const MAX_LINES = 8;

export function createTaskPart({ style, tasks }: TaskPartOptions): TaskPart {
  /** The choice of the person. */
  let chosen: boolean | undefined;
  const isShown = (): boolean => chosen ?? tasks().some(({ state }) => state !== "done");

  return {
    part: {
      rows: ({ columns, rows }) => ({
        lines: isShown() ? taskLines(tasks(), { style, columns, maxLines: Math.min(rows, MAX_LINES) }) : [],
      }),
    },
    toggle() {
      if (tasks().length === 0) return false;
      chosen = !isShown();
      return true;
    },
    forget() {
      chosen = undefined;
    },
  };
}
