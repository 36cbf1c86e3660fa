import type { Tool } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { type SessionTask, TASK_STATES, TASKS_KEPT, TASKS_TOOL } from "../core/session-tasks.ts";
import { toolFailure } from "./call-files.ts";
import { choice, list, record, text, toolInput } from "./tool-input.ts";

/** The longest list that a person can still follow, and the longest task of it in characters. */
const MAX_TASKS = 50;
const MAX_TEXT = 300;

export interface UpdateTasksInput {
  readonly tasks: readonly SessionTask[];
}

/** Replaces the list of tasks that the person sees while the agent works. The session keeps it. */
export function createUpdateTasksTool(): Tool<UpdateTasksInput> {
  return defineTool<UpdateTasksInput>({
    name: TASKS_TOOL,
    description:
      "Show the person the steps of longer work. Each call replaces the whole list: call it when you have the steps, and when one begins or is done. Not for work of one or two steps.",
    effect: "read",
    concurrency: "exclusive",
    input: toolInput({
      tasks: list(
        "All tasks, in order.",
        record("A task.", {
          text: text("What is to be done, in a few words."),
          state: choice("At most one is doing.", TASK_STATES),
        }),
      ),
    }),
    execute({ tasks }, call) {
      const given = tasks.map(({ text: words, state }) => ({ text: words.trim(), state }));
      const problem = taskProblem(given);
      if (problem !== undefined) throw toolFailure(TASKS_TOOL, `The list was not changed: ${problem}.`);
      call.keep?.(TASKS_KEPT, given);
      return summary(given);
    },
  });
}

/** Returns what is wrong with a list and what to do, or `undefined`. */
function taskProblem(tasks: readonly SessionTask[]): string | undefined {
  if (tasks.length > MAX_TASKS) return `it has ${tasks.length} tasks, and ${MAX_TASKS} is the most. Join small ones`;
  const doing = tasks.filter(({ state }) => state === "doing").length;
  if (doing > 1) return `${doing} tasks are doing, and one is the most. Leave the others open`;
  const unfit = tasks.find(({ text: words }) => words === "" || words.length > MAX_TEXT);
  if (unfit === undefined) return undefined;
  return unfit.text === ""
    ? "a task has no text"
    : `the task "${unfit.text.slice(0, 40)}…" is longer than ${MAX_TEXT} characters. Shorten it`;
}

function summary(tasks: readonly SessionTask[]): string {
  if (tasks.length === 0) return "The list is empty now.";
  return `${tasks.filter(({ state }) => state === "done").length} of ${tasks.length} done.`;
}
