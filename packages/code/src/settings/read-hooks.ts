import { AgentError, type Executor, type JsonObject } from "@keelson/protocol";
import { hooksFromJson } from "keelson/agent";
import { type SettingsEntry, unused } from "./settings-entry.ts";

const NO_EXECUTOR: Executor = {
  execute: () => Promise.reject(new Error("Hooks are only read here.")),
};

/** Reads `hooks`: the events that are known are used, each other event and kind of hook is named. */
export function readHooks(value: unknown): readonly SettingsEntry[] {
  const left: string[] = [];
  let count: number;
  try {
    const onUnsupported = (message: string): void => void left.push(message);
    count = hooksFromJson({ hooks: value }, { exec: NO_EXECUTOR, sandboxExec: NO_EXECUTOR, onUnsupported }).hooks.length;
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return [unused("hooks", `they cannot be read: ${error.message}`, true)];
  }
  return [
    ...(count === 0
      ? []
      : [
          {
            entry: "hooks",
            kind: "opens" as const,
            reason: `${count} ${count === 1 ? "command" : "commands"} at ${Object.keys(value as JsonObject).join(", ")}`,
            values: { hooks: value as JsonObject },
          },
        ]),
    ...left.map((message) => unused("hooks", message, true)),
  ];
}
