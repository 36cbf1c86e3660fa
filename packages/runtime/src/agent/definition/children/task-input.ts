import type { JsonObject, Tool } from "@keelson/protocol";

/** What a model tells another agent: a task in words. */
export const TASK_SCHEMA: JsonObject = {
  type: "object",
  properties: { task: { type: "string", description: "The whole task: the agent sees nothing else." } },
  required: ["task"],
  additionalProperties: false,
};

export const parseTask: Tool<{ readonly task: string }>["parse"] = (input) => {
  const task = (input as { readonly task?: unknown } | null)?.task;
  return typeof task === "string" && task !== ""
    ? { value: { task } }
    : { issues: [{ message: "task must be a text that is not empty", path: ["task"] }] };
};
