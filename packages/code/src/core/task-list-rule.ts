import { textMessage, type Message } from "@keelson/protocol";
import type { Rule } from "keelson/context";
import { readTasks, type SessionTask, TASKS_KEPT, TASKS_TOOL } from "./session-tasks.ts";

/**
 * Creates the rule that gives the model its list of tasks back if the conversation does not contain it: a compaction removed the call that wrote it. Otherwise
 * the list is in the arguments of that call, and costs nothing more.
 */
export function createTaskListRule(): Rule {
  return {
    name: "task-list",
    trigger: { type: "before", operation: "infer" },
    pure: true,
    async run({ context }) {
      const tasks = readTasks(context.kept?.[TASKS_KEPT]) ?? [];
      // A list that is done is of no use to the model.
      if (tasks.every(({ state }) => state === "done") || contains(context.messages, tasks)) return;
      await context.injectMessage(textMessage("system", reminder(tasks)));
    },
  };
}

function contains(messages: readonly Message[], tasks: readonly SessionTask[]): boolean {
  const wanted = JSON.stringify(tasks);
  const told = reminder(tasks);
  return messages.some(({ role, content }) =>
    content.some((part) => {
      if (part.type === "text") return role === "system" && part.text === told;
      if (part.type !== "tool-call" || part.name !== TASKS_TOOL) return false;
      const input = part.input as { readonly tasks?: Parameters<typeof readTasks>[0] } | null | undefined;
      return JSON.stringify(readTasks(input?.tasks)) === wanted;
    }),
  );
}

function reminder(tasks: readonly SessionTask[]): string {
  return [`Your list of tasks (${TASKS_TOOL} replaces it):`, ...tasks.map(({ text, state }) => `- ${state}: ${text}`)].join("\n");
}
