import type { AgentEvent, JsonValue } from "@keelson/protocol";
import type { SessionView } from "keelson";

/** The states of a task, in the order of its life. */
export const TASK_STATES = ["open", "doing", "done"] as const;

/** A step of the work, in the list that the agent keeps. */
export interface SessionTask {
  readonly text: string;
  readonly state: (typeof TASK_STATES)[number];
}

/** The name of the tool that replaces the list. */
export const TASKS_TOOL = "update_tasks";

/** The name under which the session keeps the list. */
export const TASKS_KEPT = "tasks";

/** Returns the list of a session. It follows a rewind and a fork; empty if the agent keeps none. */
export function tasksOf({ kept }: Pick<SessionView, "kept">): readonly SessionTask[] {
  return readTasks(kept?.[TASKS_KEPT]) ?? [];
}

/** Reads a list, as it is kept or as a call gives it. @returns `undefined` if it is none */
export function readTasks(value: JsonValue | undefined): readonly SessionTask[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const tasks = value.map(readTask);
  return tasks.every((task) => task !== undefined) ? tasks : undefined;
}

function readTask(value: JsonValue): SessionTask | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { text, state } = value as { readonly [member: string]: JsonValue | undefined };
  const known = TASK_STATES.find((name) => name === state);
  return typeof text === "string" && known !== undefined ? { text: text.trim(), state: known } : undefined;
}

/** The list of a session while its runs are watched. */
export interface TaskWatch {
  readonly tasks: readonly SessionTask[];
  /** Reads an event of a run. @returns true if the list is another one after it */
  see(event: AgentEvent): boolean;
}

/** Creates a watch that begins with the list of the session. Calls of child agents, which have sessions of their own, do not change it. */
export function watchTasks(first: readonly SessionTask[] = []): TaskWatch {
  let tasks = first;
  const called = new Map<string, readonly SessionTask[]>();
  return {
    get tasks() {
      return tasks;
    },
    see(event) {
      if (event.path !== undefined && event.path.length > 0) return false;
      if (event.type === "tool-calls-start") {
        called.clear();
        for (const { callId, input } of event.calls) {
          const given = readTasks((input as { readonly tasks?: JsonValue } | undefined)?.tasks);
          if (given !== undefined) called.set(callId, given);
        }
      }
      if (event.type !== "tool-result" || event.name !== TASKS_TOOL || event.isError) return false;
      const given = called.get(event.callId);
      if (given === undefined) return false;
      tasks = given;
      return true;
    },
  };
}
